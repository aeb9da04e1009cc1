// A consumer of KafkaJS: BOOTSTRAP GROUP TOPIC...; /TOPIC/ is a pattern, RETRY may be its option
const { Kafka } = require('kafkajs')

const [bootstrap, groupId, ...named] = process.argv.slice(2)
const topics = named.map(name => (name.startsWith('/') ? new RegExp(name.slice(1, -1)) : name))
const retry = process.env.RETRY && JSON.parse(process.env.RETRY)
const kafka = new Kafka({ clientId: 'my-app', brokers: [bootstrap] })
const consumer = kafka.consumer({ groupId, ...(retry && { retry }) })

const run = async () => {
  await consumer.connect()
  await consumer.subscribe({ topics })
  await consumer.run({ eachMessage: async ({ message }) => console.log(message) })
}

consumer.on(consumer.events.CRASH, ({ payload }) => {
  const { type } = payload.error.cause ?? payload.error
  if (!payload.restart) process.exit(type === 'GROUP_AUTHORIZATION_FAILED' ? 0 : 1)
})
run().catch(error => {
  console.error(error)
  process.exit(1)
})
