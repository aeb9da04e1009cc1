/*
 * A KafkaJS consumer that joins a group again and again: MODULES BOOTSTRAP GROUP ASSIGNER.
 *
 * A leading KafkaJS consumer deals out the topics that it subscribed to itself, whatever the others
 * read. Here its own assigner is called with those of the member it stands for, the first.
 */
'use strict'

const path = require('path')

const [modules, bootstrap, groupId, wanted] = process.argv.slice(2)
const { Kafka, AssignerProtocol, PartitionAssigners, logLevel } = require(
  path.join(modules, 'kafkajs')
)
const OWN_TOPIC = 'assay-probe'

const asLeader = build => config => {
  const assigner = build(config)
  const { cluster } = config
  const assign = async ({ members }) => {
    const { topics } = AssignerProtocol.MemberMetadata.decode(members[0].memberMetadata)
    const before = [...cluster.targetTopics]
    try {
      await cluster.addMultipleTargetTopics(topics)
      return await assigner.assign({ members, topics })
    } finally {
      // The next group need not have them.
      topics.filter(topic => !before.includes(topic)).forEach(topic => cluster.targetTopics.delete(topic))
    }
  }
  return { ...assigner, assign }
}

const fail = error => {
  process.stderr.write(`${error.name}: ${error.message}\n`)
  process.exit(1)
}

const join = async () => {
  const kafka = new Kafka({ clientId: 'kafkajs', brokers: [bootstrap], logLevel: logLevel.NOTHING })
  const named = Object.values(PartitionAssigners).find(build => build({}).name === wanted)
  if (!named) {
    throw new Error(`assigner: unknown name ${wanted}`)
  }
  const consumer = kafka.consumer({
    groupId,
    partitionAssigners: [asLeader(named)],
    sessionTimeout: 60000,
    heartbeatInterval: 1,
    maxWaitTimeInMs: 1,
    allowAutoTopicCreation: false,
    retry: { initialRetryTime: 1, maxRetryTime: 1, retries: Number.MAX_SAFE_INTEGER },
  })
  consumer.on(consumer.events.CRASH, ({ payload }) => fail(payload.error))
  await consumer.connect()
  await consumer.subscribe({ topic: OWN_TOPIC })
  await consumer.run({ autoCommit: false, eachMessage: async () => {} })
}

join().catch(fail)
