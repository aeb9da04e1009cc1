// Command sarama joins a group as a sarama consumer, as often as it is asked to.
//
//	sarama join BOOTSTRAP GROUP STRATEGY
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/IBM/sarama"
)

const shortest = time.Millisecond

var strategies = map[string]func() sarama.BalanceStrategy{
	sarama.RangeBalanceStrategyName:      sarama.NewBalanceStrategyRange,
	sarama.RoundRobinBalanceStrategyName: sarama.NewBalanceStrategyRoundRobin,
	sarama.StickyBalanceStrategyName:     sarama.NewBalanceStrategySticky,
}

func main() {
	if len(os.Args) != 5 || os.Args[1] != "join" {
		fmt.Fprintln(os.Stderr, "expected: join BOOTSTRAP GROUP STRATEGY")
		os.Exit(2)
	}
	if err := join(os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// join joins again and again, until the client gives up for another reason than a rebalance.
func join(bootstrap, group, name string) error {
	strategy, known := strategies[name]
	if !known {
		return fmt.Errorf("strategy: unknown name %q", name)
	}
	config := sarama.NewConfig()
	config.ClientID = "sarama"
	config.Version = sarama.V3_2_0_0
	config.Consumer.Offsets.AutoCommit.Enable = false
	config.Consumer.Group.Session.Timeout = time.Minute
	config.Consumer.Group.Heartbeat.Interval = shortest
	config.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{strategy()}
	config.Consumer.Group.Rebalance.Retry.Backoff = shortest
	config.Consumer.Group.Rebalance.Retry.Max = 1000
	config.Metadata.Retry.Backoff = shortest
	consumer, err := sarama.NewConsumerGroup([]string{bootstrap}, group, config)
	if err != nil {
		return err
	}
	for {
		err := consumer.Consume(context.Background(), []string{"assay-probe"}, idle{})
		if err != nil && !errors.Is(err, sarama.ErrRebalanceInProgress) {
			return err
		}
	}
}

// idle consumes nothing.
type idle struct{}

func (idle) Setup(sarama.ConsumerGroupSession) error { return nil }

func (idle) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (idle) ConsumeClaim(session sarama.ConsumerGroupSession, _ sarama.ConsumerGroupClaim) error {
	<-session.Context().Done()
	return nil
}
