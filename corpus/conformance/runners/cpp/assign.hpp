// What the runner calls: here a small assignor of its own. Replace it by yours.
#pragma once

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

using Group = nlohmann::json;  // an assay-group/1 document
using Held = std::map<std::string, std::map<std::string, std::vector<int>>>;

// Whether members keep what they own while they join: then assign() is called round by round.
constexpr bool COOPERATIVE = false;

inline bool reads(const Group& group, const std::string& member, const std::string& topic) {
    if (!group["members"].contains(member)) return false;
    const auto& said = group["members"][member]["subscription"];
    return std::find(said.begin(), said.end(), topic) != said.end();
}

inline int partitions(const nlohmann::json& topic) {
    return topic.is_number() ? topic.get<int>() : topic["partitions"].get<int>();
}

// Owners keep their partitions; the rest goes to whoever has least; then single partitions move
// to readers with two fewer, until none can.
inline Held assign(const Group& group) {
    Held held;
    std::map<std::string, int> load;
    std::vector<std::tuple<std::string, int, std::string>> all;
    auto least = [&](const std::string& topic) {
        std::string found;
        for (const auto& [member, said] : group["members"].items())
            if (reads(group, member, topic) && (found.empty() || load[member] < load[found])) found = member;
        return found;
    };
    for (const auto& [topic, said] : group["topics"].items())
        for (int number = 0; number < partitions(said); number++) {
            std::string owner = least(topic);
            if (owner.empty()) continue;
            for (const auto& [member, one] : group["members"].items()) {
                auto owned = one.value("owned", Group::object()).value(topic, std::vector<int>());
                if (std::count(owned.begin(), owned.end(), number) && reads(group, member, topic)) owner = member;
            }
            load[owner]++;
            all.emplace_back(topic, number, owner);
        }
    for (bool moved = true; moved;) {
        moved = false;
        for (auto& [topic, number, owner] : all)
            if (const std::string to = least(topic); load[owner] > load[to] + 1) {
                load[owner]--, load[to]++;
                owner = to;
                moved = true;
            }
    }
    for (const auto& [topic, number, owner] : all) held[owner][topic].push_back(number);
    return held;
}
