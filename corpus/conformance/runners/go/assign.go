package main

import (
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Whether members keep what they own while they join: then assign is called round by round.
const cooperative = false

// assign is what the runner calls: here the sticky balancer of franz-go. Replace it by your own.
func assign(group Group) (Held, error) {
	balancer := kgo.StickyBalancer()
	var members []kmsg.JoinGroupResponseMember
	for name, said := range group.Members {
		member := kmsg.NewJoinGroupResponseMember()
		member.MemberID, member.InstanceID = name, said.InstanceID
		generation := int32(-1)
		if said.Generation != nil {
			generation = *said.Generation
		}
		slices.Sort(said.Subscription)
		member.ProtocolMetadata = balancer.JoinGroupMetadata(said.Subscription, said.Owned, generation)
		members = append(members, member)
	}
	slices.SortFunc(members, func(a, b kmsg.JoinGroupResponseMember) int {
		return strings.Compare(a.MemberID, b.MemberID)
	})
	made, topics, err := balancer.MemberBalancer(members)
	if err != nil {
		return nil, err
	}
	counts := map[string]int32{}
	for topic := range topics {
		if said, exists := group.Topics[topic]; exists {
			counts[topic] = said.Partitions
		}
	}
	into, err := made.(kgo.GroupMemberBalancerOrError).BalanceOrError(counts)
	if err != nil {
		return nil, err
	}
	held := Held{}
	for _, one := range into.IntoSyncAssignment() {
		if held[one.MemberID], err = kgo.ParseConsumerSyncAssignment(one.MemberAssignment); err != nil {
			return nil, err
		}
	}
	return held, nil
}
