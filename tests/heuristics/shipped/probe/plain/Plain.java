import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.errors.GroupAuthorizationException;
import org.apache.kafka.common.serialization.StringDeserializer;

/** A consumer of Kafka's Java client: BOOTSTRAP GROUP TOPIC; ASSIGNOR may be a class. */
public class Plain {
  public static void main(String[] args) {
    Properties properties = new Properties();
    properties.put("bootstrap.servers", args[0]);
    properties.put("group.id", args[1]);
    properties.put("key.deserializer", StringDeserializer.class.getName());
    properties.put("value.deserializer", StringDeserializer.class.getName());
    if (System.getenv("ASSIGNOR") != null) {
      properties.put("partition.assignment.strategy", System.getenv("ASSIGNOR"));
    }
    try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(properties)) {
      consumer.subscribe(List.of(args[2]));
      while (true) {
        consumer.poll(Duration.ofSeconds(1));
      }
    } catch (GroupAuthorizationException end) {
      System.out.println(end.getMessage());
    }
  }
}
