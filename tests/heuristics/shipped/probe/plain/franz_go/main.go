// A consumer of franz-go: BOOTSTRAP GROUP TOPIC; ASSIGNOR may be sticky.
package main

import (
	"context"
	"errors"
	"log"
	"os"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	options := []kgo.Opt{
		kgo.SeedBrokers(os.Args[1]),
		kgo.ConsumerGroup(os.Args[2]),
		kgo.ConsumeTopics(os.Args[3]),
	}
	if os.Getenv("ASSIGNOR") == "sticky" {
		options = append(options, kgo.Balancers(kgo.StickyBalancer()))
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	for {
		fetches := client.PollFetches(context.Background())
		for _, failed := range fetches.Errors() {
			if errors.Is(failed.Err, kerr.GroupAuthorizationFailed) {
				return
			}
		}
	}
}
