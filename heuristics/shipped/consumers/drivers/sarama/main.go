package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/IBM/sarama"
)

var strategies = map[string]func() sarama.BalanceStrategy{
	sarama.RangeBalanceStrategyName:      sarama.NewBalanceStrategyRange,
	sarama.RoundRobinBalanceStrategyName: sarama.NewBalanceStrategyRoundRobin,
	sarama.StickyBalanceStrategyName:     sarama.NewBalanceStrategySticky,
}

// planned does what the leader of a group does in balance, with the members' own metadata.
func planned(given group) (plan, float64, error) {
	build, known := strategies[given.Assignor]
	if !known {
		return nil, 0, fmt.Errorf("strategy: unknown name %q", given.Assignor)
	}
	strategy := build()
	members, err := joined(given, strategy)
	if err != nil {
		return nil, 0, err
	}
	topics := map[string][]int32{}
	for _, said := range members {
		for _, topic := range said.Topics {
			topics[topic] = nil
		}
	}
	for _, topic := range slices.Sorted(maps.Keys(topics)) {
		count, exists := given.Topics[topic]
		if !exists {
			return nil, 0, fmt.Errorf("%s: %w", topic, sarama.ErrUnknownTopicOrPartition)
		}
		for number := range count {
			topics[topic] = append(topics[topic], number)
		}
	}
	var made sarama.BalanceStrategyPlan
	seconds := timed(func() { made, err = strategy.Plan(members, topics) })
	return plan(made), seconds, err
}

// joined returns the members as a leader decodes them. Eager ones have given up what they owned.
func joined(given group, strategy sarama.BalanceStrategy) (map[string]sarama.ConsumerGroupMemberMetadata, error) {
	response := sarama.JoinGroupResponse{}
	for _, one := range given.Members {
		said := sarama.ConsumerGroupMemberMetadata{Version: 2, Topics: one.Topics, GenerationID: one.Generation}
		if len(one.Owned) > 0 || one.Generation >= 0 {
			data, err := strategy.AssignmentData(one.ID, one.Owned, one.Generation)
			if err != nil {
				return nil, err
			}
			said.UserData = data
		}
		if strategy.Name() == cooperative {
			for _, topic := range slices.Sorted(maps.Keys(one.Owned)) {
				said.OwnedPartitions = append(said.OwnedPartitions,
					&sarama.OwnedPartition{Topic: topic, Partitions: one.Owned[topic]})
			}
		}
		request := sarama.JoinGroupRequest{}
		if err := request.AddGroupProtocolMetadata(strategy.Name(), &said); err != nil {
			return nil, err
		}
		response.Members = append(response.Members, sarama.GroupMember{
			MemberId: one.ID,
			Metadata: request.OrderedGroupProtocols[0].Metadata,
		})
	}
	return response.GetMembers()
}

const cooperative = "cooperative-sticky"
