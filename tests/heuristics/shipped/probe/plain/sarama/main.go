// A consumer of sarama: BOOTSTRAP GROUP TOPIC; ASSIGNOR may be sticky.
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
	config := sarama.NewConfig()
	if os.Getenv("ASSIGNOR") == "sticky" {
		sticky := sarama.NewBalanceStrategySticky()
		config.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{sticky}
	}
	group, err := sarama.NewConsumerGroup([]string{os.Args[1]}, os.Args[2], config)
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
