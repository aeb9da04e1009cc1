/*
 * Answers groups from standard input, a JSON document each, with a line of JSON each: MODULES.
 *
 * A leading KafkaJS consumer deals out the topics that it subscribed to itself, whatever the others
 * read: here it is the first member.
 */
'use strict'

const path = require('path')
const readline = require('readline')

const kafkajs = path.join(process.argv[2], 'kafkajs')
const { AssignerProtocol, PartitionAssigners } = require(kafkajs)
const { createErrorFromCode } = require(path.join(kafkajs, 'src', 'protocol', 'error'))

const UNKNOWN_TOPIC = 3

const answered = async ({ assignor, topics: counts, members: given }) => {
  const cluster = {
    findTopicPartitionMetadata: topic =>
      Array.from({ length: counts[topic] }, (_, partitionId) => ({ partitionId })),
  }
  const build = Object.values(PartitionAssigners).find(build => build({}).name === assignor)
  if (!build) {
    throw new Error(`assigner: unknown name ${assignor}`)
  }
  const assigner = build({ cluster })
  const [{ topics }] = given
  if (!topics.every(topic => topic in counts)) {
    throw createErrorFromCode(UNKNOWN_TOPIC)
  }
  const members = given.map(({ id, topics }) => ({
    memberId: id,
    memberMetadata: assigner.protocol({ topics }).metadata,
  }))
  const start = process.hrtime.bigint()
  const made = await assigner.assign({ members, topics })
  const seconds = Number(process.hrtime.bigint() - start) / 1e9
  const plan = {}
  for (const { memberId, memberAssignment } of made) {
    plan[memberId] = AssignerProtocol.MemberAssignment.decode(memberAssignment).assignment
  }
  return { seconds, plan }
}

const main = async () => {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const answer = await answered(JSON.parse(line)).catch(error => ({
      error: `${error.name}: ${error.message}`,
    }))
    process.stdout.write(`${JSON.stringify(answer)}\n`)
  }
}

main()
