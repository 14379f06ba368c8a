package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
)

// get reads single objects: the path's {number} goes through 0 .. count-1 in an order that is far from the stored one.
func get(o *options) (map[string]any, error) {
	return hammer(o, forSeconds(o.seconds), func(c *http.Client, number int, buffer *bytes.Buffer) error {
		path := o.path
		if o.count > 0 {
			path = fill(path, uint64(number)*2654435761%uint64(o.count))
		}
		return ask(c, "GET", o.server+path, o.accept, nil, buffer)
	})
}

// create posts new objects, for some seconds or so many of them.
func create(o *options) (map[string]any, error) {
	body, err := os.ReadFile(o.body)
	if err != nil {
		return nil, err
	}
	return hammer(o, counting(o), poster(o, body))
}

// poster creates the object of a number.
func poster(o *options, body []byte) func(c *http.Client, number int, buffer *bytes.Buffer) error {
	return func(c *http.Client, number int, buffer *bytes.Buffer) error {
		named := bytes.ReplaceAll(body, []byte("{name}"), []byte(fmt.Sprintf("%s-%d", o.prefix, number)))
		return ask(c, "POST", o.server+o.path, o.accept, named, buffer)
	}
}

// list reads a collection again and again, and says how large it is and how many things it holds.
func list(o *options) (map[string]any, error) {
	var sample atomic.Pointer[[]byte]
	answer, err := hammer(o, counting(o), func(c *http.Client, _ int, buffer *bytes.Buffer) error {
		err := ask(c, "GET", o.server+o.path, o.accept, nil, buffer)
		if err == nil && sample.Load() == nil {
			copied := bytes.Clone(buffer.Bytes())
			sample.Store(&copied)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var listed struct {
		Items, Rows []json.RawMessage
		Metadata    struct{ Continue string }
	}
	if err := json.Unmarshal(*sample.Load(), &listed); err != nil {
		return nil, err
	}
	answer["bytes"] = len(*sample.Load())
	answer["items"] = len(listed.Items) + len(listed.Rows)
	answer["continue"] = listed.Metadata.Continue
	return answer, nil
}
