// Holds assign() of assign.hpp to the promises of files: ./conformance ../../valid.json ...
// Exit code 1 where one is broken. Copy both files, and put your own assignor into assign.hpp.
// Needs nlohmann/json: g++ -std=c++17 -O2 -pthread conformance.cpp -o conformance
#include "assign.hpp"

#include <chrono>
#include <fstream>
#include <future>
#include <iostream>
#include <optional>
#include <set>
#include <thread>

using nlohmann::json;
using Pair = std::tuple<std::string, std::string, int>;

constexpr std::chrono::seconds LIMIT(5);
constexpr int ROUNDS = 50;

std::set<Pair> pairs(const json& held) {
    std::set<Pair> found;
    for (const auto& [member, topics] : held.items())
        for (const auto& [topic, numbers] : topics.items())
            for (int number : numbers) found.emplace(member, topic, number);
    return found;
}

int missing(const std::set<Pair>& one, const std::set<Pair>& other) {
    return std::count_if(one.begin(), one.end(), [&](const Pair& pair) { return !other.count(pair); });
}

std::set<Pair> owned(const Group& group) {
    json held = json::object();
    for (const auto& [member, said] : group["members"].items()) held[member] = said.value("owned", json::object());
    return pairs(held);
}

// The group in which each member owns what it was given, a generation later.
Group claiming(Group group, const json& made) {
    int later = 1;
    for (const auto& member : group["members"]) later = std::max(later, member.value("generation", 0) + 1);
    for (auto& [name, member] : group["members"].items()) {
        member["owned"] = made.value(name, json::object());
        member["generation"] = later;
    }
    return group;
}

// The assignment once nobody has to revoke; null where the rounds do not end.
json settled(Group group) {
    for (int round = 0; round < ROUNDS; round++) {
        json made = assign(group);
        if (made.is_null()) made = json::object();
        if (!COOPERATIVE || missing(owned(group), pairs(made)) == 0) return made;
        group = claiming(group, made);
    }
    return nullptr;
}

// What counts of an assignment; null where it is not valid.
json measured(const Group& group, const json& made, const json& best) {
    const auto held = pairs(made);
    std::map<std::string, int> load;
    std::map<std::pair<std::string, int>, int> holders;
    bool valid = true, balanced = true;
    int given = 0, far = 0;
    for (const auto& topics : made)
        for (const auto& numbers : topics) given += numbers.size();
    for (const auto& [member, topics] : made.items()) valid = valid && group["members"].contains(member);
    for (const auto& [member, said] : group["members"].items()) load[member] = 0;
    for (const auto& [member, topic, number] : held) {
        load[member]++;
        holders[{topic, number}]++;
        valid = valid && reads(group, member, topic);
    }
    for (const auto& [topic, said] : group["topics"].items()) {
        bool is_read = false;
        for (const auto& [member, count] : load) is_read = is_read || reads(group, member, topic);
        for (int number = 0; is_read && number < partitions(said); number++, given--)
            valid = valid && holders[{topic, number}] == 1;
    }
    if (!valid || given != 0) return nullptr;
    for (const auto& [member, topic, number] : held) {
        for (const auto& [other, count] : load)
            balanced = balanced && !(load[member] > count + 1 && reads(group, other, topic));
        if (!group["topics"][topic].contains("racks")) continue;
        const auto& racks = group["topics"][topic]["racks"][number];
        far += std::find(racks.begin(), racks.end(), group["members"][member].value("rack", "")) == racks.end();
    }
    std::vector<int> loads;
    for (const auto& [member, count] : load) loads.push_back(count);
    std::sort(loads.begin(), loads.end());
    const int moves = missing(best.contains("owners") ? pairs(best["owners"]) : owned(group), held);
    return {{"balanced", balanced}, {"loads", loads}, {"moves", moves}, {"racks", far}};
}

// Whether the promise is kept, nothing where it is not put to the test; and what was measured.
std::pair<std::optional<bool>, json> judged(const std::string& promise, const Group& group, const json& best) {
    json made, again;
    try {
        made = settled(group);
        if (!made.is_null() && promise == "idempotent") again = settled(claiming(group, made));
    } catch (const std::exception& error) {
        if (promise == "answers") return {false, error.what()};
        return {std::nullopt, error.what()};
    }
    if (promise == "terminates" || promise == "answers") return {true, {}};
    if (promise == "settles") return {!made.is_null(), "rounds without end"};
    if (made.is_null()) return {std::nullopt, {}};
    const json found = measured(group, made, best);
    if (promise == "valid") return {!found.is_null(), made};
    if (found.is_null()) return {std::nullopt, made};
    const bool is_best = found["loads"] == best.value("loads", json());
    if (promise == "balanced") return {found["balanced"].get<bool>(), found};
    if (promise == "optimal-balance") return {is_best, found};
    if (promise == "idempotent" && again.is_null()) return {std::nullopt, found};
    if (promise == "idempotent") return {missing(pairs(made), pairs(again)) == 0, again};
    if (!is_best) return {std::nullopt, found};
    const std::string key = promise == "racks" ? "racks" : "moves";
    return {found[key] <= best[key], found};
}

int main(int count, char** files) {
    int code = 0;
    for (int file = 1; file < count; file++) {
        const json document = json::parse(std::ifstream(files[file]));
        const std::string promise = document["promise"];
        std::map<std::string, int> came;
        for (const json& one : document["instances"]) {
            if (!one.contains("group")) {
                came["only recipes"]++;
                continue;
            }
            const json best = one.value("answer", json::object());
            std::packaged_task<std::pair<std::optional<bool>, json>()> task(
                [promise, one, best] { return judged(promise, one["group"], best); });
            auto done = task.get_future();
            std::thread(std::move(task)).detach();
            std::optional<bool> kept;
            json said = "no answer";
            if (done.wait_for(LIMIT) == std::future_status::ready)
                std::tie(kept, said) = done.get();
            else if (promise == "terminates")
                kept = false;
            came[!kept ? "not tested" : *kept ? "kept" : "broken"]++;
            if (kept == false) {
                code = 1;
                std::cout << promise << " " << one["id"].get<std::string>() << " " << said << " best: "
                          << best.value("loads", json()) << best.value("moves", json()) << best.value("racks", json()) << "\n";
            }
        }
        std::cout << promise << ": " << came["kept"] << " kept, " << came["broken"] << " broken, " << came["not tested"]
                  << " not tested, " << came["only recipes"] << " only recipes" << std::endl;
    }
    std::_Exit(code);
}
