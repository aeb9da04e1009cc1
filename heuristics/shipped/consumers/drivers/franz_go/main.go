// Command franz_go joins a group as a franz-go consumer, or times its balancer in memory.
//
//	franz_go join BOOTSTRAP GROUP BALANCER
//	franz_go bench BALANCER
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"sort"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const shortest = 10 * time.Millisecond

func main() {
	arguments := append(os.Args[1:], make([]string, 4)...)
	var err error
	switch arguments[0] {
	case "join":
		err = join(arguments[1], arguments[2], arguments[3])
	case "bench":
		err = bench(arguments[1])
	default:
		err = fmt.Errorf("expected join or bench, got %q", arguments[0])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func balancer(name string) (kgo.GroupBalancer, error) {
	known := []kgo.GroupBalancer{
		kgo.RangeBalancer(),
		kgo.RoundRobinBalancer(),
		kgo.StickyBalancer(),
		kgo.CooperativeStickyBalancer(),
	}
	for _, one := range known {
		if one.ProtocolName() == name {
			return one, nil
		}
	}
	return nil, fmt.Errorf("balancer: unknown name %q", name)
}

// join joins again and again, for ever.
func join(bootstrap, group, name string) error {
	chosen, err := balancer(name)
	if err != nil {
		return err
	}
	client, err := kgo.NewClient(
		kgo.SeedBrokers(bootstrap),
		kgo.ConsumerGroup(group),
		kgo.ConsumeTopics("assay-probe"),
		kgo.Balancers(chosen),
		kgo.DisableAutoCommit(),
		kgo.ClientID("franz-go"),
		kgo.HeartbeatInterval(shortest),
		kgo.SessionTimeout(time.Minute),
		kgo.RebalanceTimeout(time.Minute),
		kgo.MetadataMinAge(shortest),
		kgo.RetryBackoffFn(func(int) time.Duration { return time.Millisecond }),
		kgo.WithLogger(kgo.BasicLogger(os.Stderr, kgo.LogLevelError, nil)),
	)
	if err != nil {
		return err
	}
	for {
		client.PollFetches(context.Background())
	}
}

// group is what standard input holds: members and topics by name, subscriptions by name, owned
// partitions by topic.
type group struct {
	Topics  map[string]int32
	Members []struct {
		ID         string
		Topics     []string
		Owned      map[string][]int32
		Generation int32
	}
}

// bench reads a group and then orders: "run" answers with the seconds of a run of the balancer,
// "plan" with what the last run gave.
func bench(name string) error {
	chosen, err := balancer(name)
	if err != nil {
		return err
	}
	input := json.NewDecoder(bufio.NewReaderSize(os.Stdin, 1<<20))
	output := json.NewEncoder(os.Stdout)
	var given group
	if err := input.Decode(&given); err != nil {
		return fmt.Errorf("group: %w", err)
	}
	var made kgo.IntoSyncAssignment
	for {
		var order string
		if err := input.Decode(&order); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("order: %w", err)
		}
		var answer any
		if order == "plan" && made != nil {
			answer, err = planned(made)
		} else {
			answer, made, err = timed(chosen, given)
		}
		if err != nil {
			return err
		}
		if err := output.Encode(answer); err != nil {
			return err
		}
	}
}

// timed runs the balancer, with members parsed and earlier garbage collected before the clock.
func timed(chosen kgo.GroupBalancer, given group) (float64, kgo.IntoSyncAssignment, error) {
	balance, err := memberBalancer(chosen, given)
	if err != nil {
		return 0, nil, err
	}
	runtime.GC()
	start := time.Now()
	made, err := balance.BalanceOrError(given.Topics)
	return time.Since(start).Seconds(), made, err
}

func memberBalancer(chosen kgo.GroupBalancer, given group) (kgo.GroupMemberBalancerOrError, error) {
	members := make([]kmsg.JoinGroupResponseMember, 0, len(given.Members))
	for _, said := range given.Members {
		member := kmsg.NewJoinGroupResponseMember()
		member.MemberID = said.ID
		sort.Strings(said.Topics)
		member.ProtocolMetadata = chosen.JoinGroupMetadata(said.Topics, said.Owned, said.Generation)
		members = append(members, member)
	}
	made, _, err := chosen.MemberBalancer(members)
	if err != nil {
		return nil, err
	}
	balance, ok := made.(kgo.GroupMemberBalancerOrError)
	if !ok {
		return nil, fmt.Errorf("balancer: %s has no BalanceOrError", chosen.ProtocolName())
	}
	return balance, nil
}

func planned(made kgo.IntoSyncAssignment) (map[string]map[string][]int32, error) {
	plan := map[string]map[string][]int32{}
	for _, member := range made.IntoSyncAssignment() {
		topics, err := kgo.ParseConsumerSyncAssignment(member.MemberAssignment)
		if err != nil {
			return nil, err
		}
		plan[member.MemberID] = topics
	}
	return plan, nil
}
