// A consumer of sarama, with its default options: BOOTSTRAP GROUP TOPIC.
package main

import (
	"context"
	"errors"
	"log"
	"os"

	"github.com/IBM/sarama"
)

type handler struct{}

func (handler) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (handler) Cleanup(sarama.ConsumerGroupSession) error { return nil }
func (handler) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for message := range claim.Messages() {
		session.MarkMessage(message, "")
	}
	return nil
}

func main() {
	group, err := sarama.NewConsumerGroup([]string{os.Args[1]}, os.Args[2], sarama.NewConfig())
	if err != nil {
		log.Fatal(err)
	}
	defer group.Close()
	for {
		err := group.Consume(context.Background(), []string{os.Args[3]}, handler{})
		if errors.Is(err, sarama.ErrGroupAuthorizationFailed) {
			return
		}
		if err != nil {
			log.Print(err)
		}
	}
}
