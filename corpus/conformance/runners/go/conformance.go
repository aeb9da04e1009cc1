// Holds assign() of assign.go to the promises of files: go run . ../../valid.json ...
// Exit code 1 where one is broken. Copy both files, and put your own assignor into assign.go.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"
)

const limit, rounds = 5 * time.Second, 50

type Held map[string]map[string][]int32 // by member and topic, partition numbers

type Topic struct {
	Partitions int32
	Racks      [][]string
}

type Member struct {
	Subscription []string
	Owned        map[string][]int32
	Generation   *int32
	Rack         *string
	InstanceID   *string `json:"instance_id"`
}

type Group struct {
	Topics  map[string]Topic
	Members map[string]Member
}

type Answer struct {
	Loads        []int
	Moves, Racks int
	Owners       Held
}

type pair struct {
	member, topic string
	number        int32
}

// UnmarshalJSON reads a topic, which may be the number of its partitions alone.
func (topic *Topic) UnmarshalJSON(text []byte) error {
	type object Topic
	if text[0] == '{' {
		return json.Unmarshal(text, (*object)(topic))
	}
	return json.Unmarshal(text, &topic.Partitions)
}

func pairs(held Held) map[pair]bool {
	found := map[pair]bool{}
	for member, topics := range held {
		for topic, numbers := range topics {
			for _, number := range numbers {
				found[pair{member, topic, number}] = true
			}
		}
	}
	return found
}

// missing counts what is in one and not in the other.
func missing(one, other map[pair]bool) (count int) {
	for each := range one {
		if !other[each] {
			count++
		}
	}
	return count
}

func owned(group Group) map[pair]bool {
	held := Held{}
	for name, member := range group.Members {
		held[name] = member.Owned
	}
	return pairs(held)
}

// claiming returns the group in which each member owns what it was given, a generation later.
func claiming(group Group, made Held) Group {
	later, members := int32(1), map[string]Member{}
	for _, member := range group.Members {
		if member.Generation != nil {
			later = max(later, *member.Generation+1)
		}
	}
	for name, member := range group.Members {
		member.Owned, member.Generation = made[name], &later
		members[name] = member
	}
	return Group{group.Topics, members}
}

// settled returns the assignment once nobody has to revoke; nil where the rounds do not end.
func settled(group Group) (Held, error) {
	for range rounds {
		made, err := assign(group)
		if err != nil || !cooperative || missing(owned(group), pairs(made)) == 0 {
			return made, err
		}
		group = claiming(group, made)
	}
	return nil, nil
}

func measured(group Group, made, owners Held) (valid, balanced bool, found Answer) {
	held, load, read, given := pairs(made), map[string]int{}, map[string]bool{}, 0
	holders := map[pair]int{}
	for each := range held {
		load[each.member]++
		holders[pair{"", each.topic, each.number}]++
	}
	valid, balanced = true, true
	for name, member := range group.Members {
		found.Loads = append(found.Loads, load[name])
		for topic, numbers := range made[name] {
			given += len(numbers)
			valid = valid && slices.Contains(member.Subscription, topic)
		}
		for _, topic := range member.Subscription {
			read[topic] = true
		}
	}
	slices.Sort(found.Loads)
	for member := range made {
		_, exists := group.Members[member]
		valid = valid && exists
	}
	for topic, told := range group.Topics {
		for number := range told.Partitions {
			if read[topic] {
				given--
				valid = valid && holders[pair{"", topic, number}] == 1
			}
		}
	}
	if !valid || given != 0 {
		return false, false, found
	}
	for each := range held {
		for name, member := range group.Members {
			reads := slices.Contains(member.Subscription, each.topic)
			balanced = balanced && !(reads && load[each.member]-load[name] > 1)
		}
		rack, racks := group.Members[each.member].Rack, group.Topics[each.topic].Racks
		if racks != nil && (rack == nil || !slices.Contains(racks[each.number], *rack)) {
			found.Racks++
		}
	}
	found.Moves = missing(owned(group), held)
	if owners != nil {
		found.Moves = missing(pairs(owners), held)
	}
	return true, balanced, found
}

// judged returns "kept", "broken" or "not tested", and what was measured.
func judged(promise string, group Group, best Answer) (string, any) {
	told := map[bool]string{true: "kept", false: "broken"}
	made, err := settled(group)
	switch {
	case promise == "terminates" || promise == "answers":
		return told[promise == "terminates" || err == nil], err
	case promise == "settles" && err == nil:
		return told[made != nil], "rounds without end"
	case err != nil || made == nil:
		return "not tested", err
	}
	valid, balanced, found := measured(group, made, best.Owners)
	isBest := slices.Equal(found.Loads, best.Loads)
	switch {
	case promise == "valid":
		return told[valid], made
	case !valid:
		return "not tested", found
	case promise == "idempotent":
		again, err := settled(claiming(group, made))
		if err != nil || again == nil {
			return "not tested", err
		}
		return told[missing(pairs(made), pairs(again)) == 0], again
	case promise == "balanced":
		return told[balanced], found
	case promise == "optimal-balance":
		return told[isBest], found
	case !isBest:
		return "not tested", found
	case promise == "optimal-moves":
		return told[found.Moves <= best.Moves], found
	}
	return told[found.Racks <= best.Racks], found
}

func main() {
	code := 0
	for _, file := range os.Args[1:] {
		var document struct {
			Promise   string
			Instances []struct {
				ID     string
				Group  *Group
				Answer Answer
			}
		}
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, &document)
		}
		if err != nil {
			panic(err)
		}
		count := map[string]int{}
		for _, one := range document.Instances {
			came := "only recipes"
			if one.Group != nil {
				done := make(chan string, 1)
				go func() {
					came, said := judged(document.Promise, *one.Group, one.Answer)
					if came == "broken" {
						fmt.Println(document.Promise, one.ID, said, "best:", one.Answer)
					}
					done <- came
				}()
				select {
				case came = <-done:
				case <-time.After(limit):
					came = "not tested"
					if document.Promise == "terminates" {
						came = "broken"
						fmt.Println(document.Promise, one.ID, "no answer in", limit)
					}
				}
			}
			count[came]++
		}
		fmt.Printf("%s: %d kept, %d broken, %d not tested, %d only recipes\n", document.Promise,
			count["kept"], count["broken"], count["not tested"], count["only recipes"])
		if count["broken"] > 0 {
			code = 1
		}
	}
	os.Exit(code)
}
