// A small assignor, as a program for conformance.py. Replace assign() by your own.
// Needs nlohmann/json: g++ -std=c++17 -O2 assign.cpp -o assign
#include <algorithm>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

using nlohmann::json;

// Owners keep their partitions; the rest goes to whoever has least; then single partitions move
// to readers with two fewer, until none can. Returns partition numbers, by member and topic.
json assign(const json& group) {
    std::map<std::string, int> load;
    std::vector<std::tuple<std::string, int, std::string>> all;
    auto reads = [](const json& member, const std::string& topic) {
        const auto& read = member["subscription"];
        return std::find(read.begin(), read.end(), topic) != read.end();
    };
    auto least = [&](const std::string& topic) {
        std::string found;
        for (const auto& [name, member] : group["members"].items())
            if (reads(member, topic) && (found.empty() || load[name] < load[found])) found = name;
        return found;
    };
    for (const auto& [topic, said] : group["topics"].items())
        for (int number = 0; number < said["partitions"]; number++) {
            std::string owner = least(topic);
            if (owner.empty()) continue;
            for (const auto& [name, member] : group["members"].items()) {
                const auto owned = member["owned"].value(topic, json::array());
                if (std::count(owned.begin(), owned.end(), number) && reads(member, topic)) owner = name;
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
    json held = json::object();
    for (const auto& [topic, number, owner] : all) held[owner][topic].push_back(number);
    return held;
}

int main() {
    for (std::string line; std::getline(std::cin, line);) std::cout << assign(json::parse(line)) << std::endl;
}
