package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var balancers = []kgo.GroupBalancer{
	kgo.RangeBalancer(),
	kgo.RoundRobinBalancer(),
	kgo.StickyBalancer(),
	kgo.CooperativeStickyBalancer(),
}

// planned does what the leader of a group does in balanceGroup, with the members' own metadata.
func planned(given group) (plan, float64, error) {
	at := slices.IndexFunc(balancers, func(one kgo.GroupBalancer) bool {
		return one.ProtocolName() == given.Assignor
	})
	if at < 0 {
		return nil, 0, fmt.Errorf("balancer: unknown name %q", given.Assignor)
	}
	members, err := joined(given.Members, balancers[at])
	if err != nil {
		return nil, 0, err
	}
	made, topics, err := balancers[at].MemberBalancer(members)
	if err != nil {
		return nil, 0, err
	}
	counts := map[string]int32{}
	for topic := range topics {
		if count, exists := given.Topics[topic]; exists {
			counts[topic] = count
		}
	}
	tellRacks(made, given)
	balance, ok := made.(kgo.GroupMemberBalancerOrError)
	if !ok {
		return nil, 0, fmt.Errorf("balancer: %s has no BalanceOrError", given.Assignor)
	}
	var into kgo.IntoSyncAssignment
	seconds := timed(func() { into, err = balance.BalanceOrError(counts) })
	if err != nil {
		return nil, 0, err
	}
	found := plan{}
	for _, one := range into.IntoSyncAssignment() {
		if found[one.MemberID], err = kgo.ParseConsumerSyncAssignment(one.MemberAssignment); err != nil {
			return nil, 0, err
		}
	}
	return found, seconds, nil
}

// joined returns the members as a leader gets them: static ones first, with what each of them says.
func joined(given []member, chosen kgo.GroupBalancer) ([]kmsg.JoinGroupResponseMember, error) {
	members := make([]kmsg.JoinGroupResponseMember, 0, len(given))
	for _, said := range given {
		one := kmsg.NewJoinGroupResponseMember()
		one.MemberID, one.InstanceID = said.ID, said.Instance
		slices.Sort(said.Topics)
		one.ProtocolMetadata = chosen.JoinGroupMetadata(said.Topics, said.Owned, said.Generation)
		if said.Rack != nil {
			var metadata kmsg.ConsumerMemberMetadata
			if err := metadata.ReadFrom(one.ProtocolMetadata); err != nil {
				return nil, err
			}
			metadata.Rack, metadata.Version = said.Rack, 3
			one.ProtocolMetadata = metadata.AppendTo(nil)
		}
		members = append(members, one)
	}
	slices.SortFunc(members, func(a, b kmsg.JoinGroupResponseMember) int {
		switch {
		case a.InstanceID != nil && b.InstanceID != nil:
			return strings.Compare(*a.InstanceID, *b.InstanceID)
		case a.InstanceID != nil:
			return -1
		case b.InstanceID != nil:
			return 1
		}
		return strings.Compare(a.MemberID, b.MemberID)
	})
	return members, nil
}

// tellRacks tells a balancer of the leaders' racks, if a member has one: that is no public field.
func tellRacks(made kgo.GroupMemberBalancer, given group) {
	someRack := slices.ContainsFunc(given.Members, func(one member) bool { return one.Rack != nil })
	consumers, ok := made.(*kgo.ConsumerBalancer)
	if !ok || !someRack || len(given.Racks) == 0 {
		return
	}
	field := reflect.ValueOf(consumers).Elem().FieldByName("partitionRacks")
	if field.IsValid() {
		*(*map[string][]string)(unsafe.Pointer(field.UnsafeAddr())) = given.Racks
	}
}
