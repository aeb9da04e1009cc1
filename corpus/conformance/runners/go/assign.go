// The sticky balancer of franz-go, as a program for conformance.py. Replace assign by your own.
package main

import (
	"encoding/json"
	"log"
	"os"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

type Group struct {
	Topics  map[string]struct{ Partitions int32 }
	Members map[string]struct {
		Subscription []string
		Owned        map[string][]int32
		Generation   int32
		InstanceID   *string `json:"instance_id"`
	}
}

// assign returns partition numbers, by member and topic.
func assign(group Group) (map[string]map[string][]int32, error) {
	balancer := kgo.StickyBalancer()
	var members []kmsg.JoinGroupResponseMember
	for name, said := range group.Members {
		member := kmsg.NewJoinGroupResponseMember()
		member.MemberID, member.InstanceID = name, said.InstanceID
		slices.Sort(said.Subscription)
		member.ProtocolMetadata = balancer.JoinGroupMetadata(said.Subscription, said.Owned, said.Generation)
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
	held := map[string]map[string][]int32{}
	for _, one := range into.IntoSyncAssignment() {
		if held[one.MemberID], err = kgo.ParseConsumerSyncAssignment(one.MemberAssignment); err != nil {
			return nil, err
		}
	}
	return held, nil
}

func main() {
	for groups, answers := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout); ; {
		var group Group
		if groups.Decode(&group) != nil {
			return
		}
		made, err := assign(group)
		if err != nil {
			log.Fatal(err)
		}
		answers.Encode(made)
	}
}
