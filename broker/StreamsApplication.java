import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Repartitioned;

/**
 * A Kafka Streams application of two subtopologies, until it is killed: one keys orders anew and
 * keeps no state, the other counts them by key in a store.
 */
public final class StreamsApplication {
    /** The topic orders feeds it; each argument is a setting, as in num.stream.threads=2. */
    public static void main(String[] settings) {
        Properties properties = new Properties();
        for (String setting : settings) {
            String[] pair = setting.split("=", 2);
            properties.setProperty(pair[0], pair[1]);
        }
        properties.setProperty(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class.getName());
        properties.setProperty(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class.getName());
        StreamsBuilder builder = new StreamsBuilder();
        builder.<String, String>stream("orders")
                .selectKey((key, order) -> order)
                .repartition(Repartitioned.<String, String>as("by-order").withNumberOfPartitions(4))
                .groupByKey()
                .count();
        KafkaStreams streams = new KafkaStreams(builder.build(), properties);
        Runtime.getRuntime().addShutdownHook(new Thread(streams::close));
        streams.start();
    }
}
