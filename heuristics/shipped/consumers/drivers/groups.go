// A program answers groups from standard input, a JSON document each, with a line of JSON each.
package main

import (
	"bufio"
	"encoding/json"
	"os"
	"runtime"
	"syscall"
	"time"
)

type group struct {
	Assignor string
	Topics   map[string]int32
	// The rack of each partition's leader, where there are racks.
	Racks   map[string][]string
	Members []member
}

type member struct {
	ID         string
	Instance   *string
	Rack       *string
	Topics     []string
	Owned      map[string][]int32
	Generation int32
}

type plan map[string]map[string][]int32

type answer struct {
	Seconds float64 `json:"seconds"`
	Plan    plan    `json:"plan"`
	Error   string  `json:"error,omitempty"`
}

func main() {
	groups := make(chan group)
	go read(groups)
	output := json.NewEncoder(os.Stdout)
	for given := range groups {
		var said answer
		var err error
		if said.Plan, said.Seconds, err = planned(given); err != nil {
			said.Error = err.Error()
		}
		if err := output.Encode(said); err != nil {
			panic(err)
		}
	}
}

// read ends the program when there is nobody to answer any more, whatever an assignor is at.
//
// It waits outside of system calls: stopTheWorldWithSema of Go 1.26, which a garbage collection
// calls, misses a thread that enters one at that moment, and then waits until that returns.
func read(groups chan<- group) {
	if err := syscall.SetNonblock(syscall.Stdin, true); err != nil {
		panic(err)
	}
	stdin := os.NewFile(uintptr(syscall.Stdin), "stdin")
	input := json.NewDecoder(bufio.NewReaderSize(stdin, 1<<20))
	for {
		var given group
		if err := input.Decode(&given); err != nil {
			os.Exit(0)
		}
		groups <- given
	}
}

// timed returns the seconds of a call; the garbage of earlier ones is collected before.
func timed(call func()) float64 {
	runtime.GC()
	start := time.Now()
	call()
	return time.Since(start).Seconds()
}
