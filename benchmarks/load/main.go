// A small load generator: get, create, list or watch over N kept-alive HTTP/1.1 connections with a client certificate.
// It is told what to do by flags and prints one JSON object. Whoever runs it decides what that means.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sort"
	"time"
)

type options struct {
	server, ca, cert, key string
	connections           int
	seconds               float64
	count                 int
	path, body, accept    string
	prefix                string
	watchers              int
}

var modes = map[string]func(*options) (map[string]any, error){
	"get":    get,
	"create": create,
	"list":   list,
	"watch":  watch,
}

func main() {
	o := &options{}
	mode := flag.String("mode", "get", "get, create, list or watch")
	flag.StringVar(&o.server, "server", "", "https://host:port")
	flag.StringVar(&o.ca, "ca", "", "file with the authority of the server's certificate")
	flag.StringVar(&o.cert, "cert", "", "file with the client's certificate")
	flag.StringVar(&o.key, "key", "", "file with the client's key")
	flag.IntVar(&o.connections, "connections", 16, "how many connections send requests")
	flag.Float64Var(&o.seconds, "seconds", 3, "for how long; ignored with a count, except by get")
	flag.IntVar(&o.count, "count", 0, "how many creates, lists or events; for get, how many names the path counts through")
	flag.StringVar(&o.path, "path", "", "the path and query; {number} stands for that of the object")
	flag.StringVar(&o.body, "body", "", "file with the object to create; {name} stands for its name")
	flag.StringVar(&o.accept, "accept", "application/json", "the Accept header")
	flag.StringVar(&o.prefix, "prefix", "object", "what the names of created objects begin with")
	flag.IntVar(&o.watchers, "watchers", 1000, "how many watches")
	flag.Parse()
	run, known := modes[*mode]
	if !known {
		fail(fmt.Errorf("there is no mode %q", *mode))
	}
	answer, err := run(o)
	if err != nil {
		fail(err)
	}
	json.NewEncoder(os.Stdout).Encode(answer)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "load:", err)
	os.Exit(1)
}

// rates says how fast something went and how long each took, in milliseconds.
func rates(took []time.Duration, seconds float64) map[string]any {
	sort.Slice(took, func(i, j int) bool { return took[i] < took[j] })
	at := func(share float64) float64 {
		if len(took) == 0 {
			return 0
		}
		return float64(took[int(share*float64(len(took)-1))].Microseconds()) / 1000
	}
	return map[string]any{
		"requests":   len(took),
		"seconds":    seconds,
		"per_second": float64(len(took)) / seconds,
		"ms_p50":     at(0.5),
		"ms_p99":     at(0.99),
	}
}
