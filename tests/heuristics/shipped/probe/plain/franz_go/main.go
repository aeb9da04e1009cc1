// A consumer of franz-go, with its default options: BOOTSTRAP GROUP TOPIC.
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
	client, err := kgo.NewClient(
		kgo.SeedBrokers(os.Args[1]),
		kgo.ConsumerGroup(os.Args[2]),
		kgo.ConsumeTopics(os.Args[3]),
	)
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
