package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// watch opens so many watches of a collection, creates `count` objects in it, and checks what each watch receives:
// every object once, and resourceVersions that only grow.
func watch(o *options) (map[string]any, error) {
	body, err := os.ReadFile(o.body)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	streams, err := openAll(o)
	if err != nil {
		return nil, err
	}
	opened := time.Since(began).Seconds()
	seen := make([]receipt, len(streams))
	var all sync.WaitGroup
	first := time.Now()
	for i, stream := range streams {
		all.Add(1)
		go func() {
			defer all.Done()
			defer stream.Body.Close()
			seen[i] = receive(stream, o)
		}()
	}
	// If events are lost their watch would never end: what takes this long is given up.
	patience := time.AfterFunc(time.Duration(o.seconds*float64(time.Second)), func() {
		for _, stream := range streams {
			stream.Body.Close()
		}
	})
	defer patience.Stop()
	written, err := hammer(o, upTo(o.count), poster(o, body))
	if err != nil {
		return nil, err
	}
	all.Wait()
	answer := tally(seen, o)
	seconds := time.Since(first).Seconds()
	answer["watchers"] = len(streams)
	answer["events"] = o.count
	answer["open_seconds"] = opened
	answer["write_seconds"] = written["seconds"]
	answer["seconds"] = seconds
	answer["per_second"] = float64(answer["delivered"].(int)) / seconds
	return answer, nil
}

func openAll(o *options) ([]*http.Response, error) {
	streams := make([]*http.Response, o.watchers)
	c, err := client(o)
	if err != nil {
		return nil, err
	}
	failures := make(chan error, o.watchers)
	turns := make(chan struct{}, 64)
	for i := range streams {
		turns <- struct{}{}
		go func() {
			defer func() { <-turns }()
			var err error
			streams[i], err = open(c, o)
			failures <- err
		}()
	}
	for range streams {
		if err := <-failures; err != nil {
			return nil, err
		}
	}
	return streams, nil
}

// open starts a watch: it is open once the headers are here.
func open(c *http.Client, o *options) (*http.Response, error) {
	separator := "?"
	if strings.Contains(o.path, "?") {
		separator = "&"
	}
	request, err := http.NewRequest("GET", o.server+o.path+separator+"watch=1&timeoutSeconds=600", nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", o.accept)
	request.Header.Set("User-Agent", "hardpoint-load")
	answer, err := c.Do(request)
	if err == nil && answer.StatusCode != 200 {
		err = fmt.Errorf("watch: %s", answer.Status)
	}
	return answer, err
}

type receipt struct {
	delivered, doubled, disordered int
	err                            error
}

var (
	versionMark = []byte(`"resourceVersion":"`)
	nameMark    = []byte(`"name":"`)
)

// receive reads lines until every event is here or the stream ends.
func receive(stream *http.Response, o *options) receipt {
	var got receipt
	known := make([]bool, o.count)
	newest := 0
	lines := bufio.NewReaderSize(stream.Body, 32<<10)
	for got.delivered < o.count {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			got.err = err
			return got
		}
		number, isOurs := numberIn(after(line, nameMark), o.prefix)
		if !isOurs || number >= o.count {
			continue
		}
		version, _ := strconv.Atoi(string(after(line, versionMark)))
		if version <= newest {
			got.disordered++
		}
		newest = version
		if known[number] {
			got.doubled++
			continue
		}
		known[number] = true
		got.delivered++
	}
	return got
}

// after is the text from a mark to the next quote.
func after(line, mark []byte) []byte {
	at := bytes.Index(line, mark)
	if at < 0 {
		return nil
	}
	rest := line[at+len(mark):]
	return rest[:max(bytes.IndexByte(rest, '"'), 0)]
}

func numberIn(name []byte, prefix string) (int, bool) {
	if len(name) <= len(prefix) || string(name[:len(prefix)]) != prefix {
		return 0, false
	}
	number, err := strconv.Atoi(string(name[len(prefix)+1:]))
	return number, err == nil
}

func tally(seen []receipt, o *options) map[string]any {
	delivered, doubled, disordered, least := 0, 0, 0, o.count
	why := ""
	for _, got := range seen {
		delivered += got.delivered
		doubled += got.doubled
		disordered += got.disordered
		least = min(least, got.delivered)
		if got.err != nil {
			why = got.err.Error()
		}
	}
	return map[string]any{
		"delivered":  delivered,
		"lost":       len(seen)*o.count - delivered,
		"doubled":    doubled,
		"disordered": disordered,
		"least":      least,
		"why":        why,
	}
}
