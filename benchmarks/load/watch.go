package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

// watch opens so many watches of a collection, creates `count` objects in it, and checks what each watcher receives:
// every object once, and resourceVersions that only grow. A watch that the server ends is resumed where it was, as
// every client does, and counted.
func watch(o *options) (map[string]any, error) {
	body, err := os.ReadFile(o.body)
	if err != nil {
		return nil, err
	}
	// If events were lost their watcher would wait for ever: what takes this long is given up.
	patience, cancel := context.WithTimeout(context.Background(), time.Duration(o.seconds*float64(time.Second)))
	defer cancel()
	began := time.Now()
	watchers, err := openAll(patience, o)
	if err != nil {
		return nil, err
	}
	opened := time.Since(began).Seconds()
	var all sync.WaitGroup
	first := time.Now()
	for _, each := range watchers {
		all.Add(1)
		go func() {
			defer all.Done()
			each.receive()
		}()
	}
	written, err := hammer(o, upTo(o.count), poster(o, body))
	if err != nil {
		return nil, err
	}
	all.Wait()
	answer := tally(watchers, o)
	seconds := time.Since(first).Seconds()
	answer["watchers"] = len(watchers)
	answer["events"] = o.count
	answer["open_seconds"] = opened
	answer["write_seconds"] = written["seconds"]
	answer["seconds"] = seconds
	answer["per_second"] = float64(answer["delivered"].(int)) / seconds
	return answer, nil
}

// openAll opens every watch, each on a connection of its own.
func openAll(patience context.Context, o *options) ([]*watcher, error) {
	c, err := client(o)
	if err != nil {
		return nil, err
	}
	version, err := versionOf(c, o)
	if err != nil {
		return nil, err
	}
	watchers := make([]*watcher, o.watchers)
	failures := make(chan error, o.watchers)
	turns := make(chan struct{}, 64)
	for i := range watchers {
		watchers[i] = &watcher{o: o, client: c, patience: patience, version: version, known: make([]bool, o.count)}
		turns <- struct{}{}
		go func() {
			defer func() { <-turns }()
			failures <- watchers[i].open()
		}()
	}
	for range watchers {
		if err := <-failures; err != nil {
			return nil, err
		}
	}
	return watchers, nil
}

// versionOf lists the collection, as every client does before it watches.
func versionOf(c *http.Client, o *options) (int, error) {
	var buffer bytes.Buffer
	if err := ask(c, "GET", o.server+o.path, o.accept, nil, &buffer); err != nil {
		return 0, err
	}
	var listed struct {
		Metadata struct{ ResourceVersion string }
	}
	if err := json.Unmarshal(buffer.Bytes(), &listed); err != nil {
		return 0, err
	}
	return strconv.Atoi(listed.Metadata.ResourceVersion)
}

// watcher is one client: where it is, and what it got.
type watcher struct {
	o        *options
	client   *http.Client
	patience context.Context
	version  int
	stream   io.ReadCloser
	known    []bool

	delivered, doubled, disordered, resumed int
	failure                                 error
}

// open starts the watch where the watcher is: it is open once the headers are here.
func (w *watcher) open() error {
	url := fmt.Sprintf("%s%s?watch=1&timeoutSeconds=600&resourceVersion=%d", w.o.server, w.o.path, w.version)
	request, err := http.NewRequestWithContext(w.patience, "GET", url, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", w.o.accept)
	request.Header.Set("User-Agent", "hardpoint-load")
	answer, err := w.client.Do(request)
	if err != nil {
		return err
	}
	w.stream = answer.Body
	if answer.StatusCode != 200 {
		return fmt.Errorf("watch: %s", answer.Status)
	}
	return nil
}

// receive reads until every event is here, through as many streams as that takes.
func (w *watcher) receive() {
	for w.failure == nil {
		w.read()
		w.stream.Close()
		if w.delivered == w.o.count || w.failure != nil {
			return
		}
		w.resumed++
		w.failure = w.open()
	}
}

var (
	versionMark = []byte(`"resourceVersion":"`)
	nameMark    = []byte(`"name":"`)
	errorMark   = []byte(`{"type":"ERROR"`)
)

// read takes lines until every event is here or the stream ends.
func (w *watcher) read() {
	lines := bufio.NewReaderSize(w.stream, 32<<10)
	for w.delivered < w.o.count {
		line, err := lines.ReadSlice('\n')
		if err == io.EOF {
			return
		}
		if err == nil && bytes.HasPrefix(line, errorMark) {
			err = fmt.Errorf("%.300s", line)
		}
		if err != nil {
			w.failure = err
			return
		}
		if number, isOurs := numberIn(after(line, nameMark), w.o.prefix); isOurs && number < w.o.count {
			w.note(number, after(line, versionMark))
		}
	}
}

func (w *watcher) note(number int, version []byte) {
	reached, _ := strconv.Atoi(string(version))
	if reached <= w.version {
		w.disordered++
	}
	w.version = reached
	if w.known[number] {
		w.doubled++
		return
	}
	w.known[number] = true
	w.delivered++
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

func tally(watchers []*watcher, o *options) map[string]any {
	delivered, doubled, disordered, resumed, why := 0, 0, 0, 0, ""
	for _, w := range watchers {
		delivered += w.delivered
		doubled += w.doubled
		disordered += w.disordered
		resumed += w.resumed
		if w.failure != nil {
			why = w.failure.Error()
		}
	}
	return map[string]any{
		"delivered":  delivered,
		"lost":       len(watchers)*o.count - delivered,
		"doubled":    doubled,
		"disordered": disordered,
		"resumed":    resumed,
		"why":        why,
	}
}
