// A consumer of KafkaJS, with its default options: BOOTSTRAP GROUP TOPIC...
const { Kafka } = require('kafkajs')

const [bootstrap, groupId, ...topics] = process.argv.slice(2)
const kafka = new Kafka({ clientId: 'my-app', brokers: [bootstrap] })
const consumer = kafka.consumer({ groupId })

const run = async () => {
  await consumer.connect()
  await consumer.subscribe({ topics })
  await consumer.run({ eachMessage: async ({ message }) => console.log(message) })
}

consumer.on(consumer.events.CRASH, ({ payload }) => payload.restart || process.exit())
run().catch(error => {
  console.error(error)
  process.exit(1)
})
