package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// client speaks HTTP/1.1 only: it never offers anything else.
func client(o *options) (*http.Client, error) {
	authority, err := os.ReadFile(o.ca)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		return nil, fmt.Errorf("%s holds no certificate", o.ca)
	}
	pair, err := tls.LoadX509KeyPair(o.cert, o.key)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}},
		TLSNextProto:        map[string]func(string, *tls.Conn) http.RoundTripper{},
		MaxIdleConnsPerHost: 100_000,
		DisableCompression:  true,
	}
	return &http.Client{Transport: transport}, nil
}

// ask sends one request and reads all of the answer into `into`.
func ask(c *http.Client, method, url, accept string, body []byte, into *bytes.Buffer) error {
	request, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Accept", accept)
	request.Header.Set("User-Agent", "hardpoint-load")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := c.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	into.Reset()
	if _, err := io.Copy(into, answer.Body); err != nil {
		return err
	}
	if answer.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %.300s", method, url, answer.Status, into.Bytes())
	}
	return nil
}

// hammer lets every connection work until one of them fails or `next` has no more numbers. Connections are opened, and
// greeted with one read of the server's version, before the clock starts.
func hammer(o *options, next func() (int, bool), work func(c *http.Client, number int, buffer *bytes.Buffer) error) (map[string]any, error) {
	clients := make([]*http.Client, o.connections)
	for i := range clients {
		c, err := client(o)
		if err != nil {
			return nil, err
		}
		if err := ask(c, "GET", o.server+"/version", "application/json", nil, &bytes.Buffer{}); err != nil {
			return nil, err
		}
		clients[i] = c
	}
	var all sync.WaitGroup
	took := make([][]time.Duration, o.connections)
	var failure atomic.Value
	began := time.Now()
	for i, c := range clients {
		all.Add(1)
		go func() {
			defer all.Done()
			var buffer bytes.Buffer
			for failure.Load() == nil {
				number, more := next()
				if !more {
					return
				}
				start := time.Now()
				if err := work(c, number, &buffer); err != nil {
					failure.Store(err)
					return
				}
				took[i] = append(took[i], time.Since(start))
			}
		}()
	}
	all.Wait()
	seconds := time.Since(began).Seconds()
	if err, failed := failure.Load().(error); failed {
		return nil, err
	}
	var flat []time.Duration
	for _, each := range took {
		flat = append(flat, each...)
	}
	return rates(flat, seconds), nil
}

// forSeconds counts until the time, which begins with the first number, is over.
func forSeconds(seconds float64) func() (int, bool) {
	var number atomic.Int64
	end := sync.OnceValue(func() time.Time { return time.Now().Add(time.Duration(seconds * float64(time.Second))) })
	return func() (int, bool) { return int(number.Add(1) - 1), time.Now().Before(end()) }
}

// upTo counts to a number.
func upTo(count int) func() (int, bool) {
	var number atomic.Int64
	return func() (int, bool) {
		n := int(number.Add(1) - 1)
		return n, n < count
	}
}

func counting(o *options) func() (int, bool) {
	if o.count > 0 {
		return upTo(o.count)
	}
	return forSeconds(o.seconds)
}

func fill(text string, with any) string {
	return strings.ReplaceAll(text, "{number}", fmt.Sprint(with))
}
