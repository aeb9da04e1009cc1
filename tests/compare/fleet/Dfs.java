import java.io.File;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/** HDFS in one process: a folder for its data, and files to copy into it; ends with its input. */
public class Dfs {
    public static void main(String[] words) throws Exception {
        Configuration conf = new Configuration();
        conf.set("dfs.permissions.enabled", "false");
        File data = new File(words[0]);
        MiniDFSCluster cluster = new MiniDFSCluster.Builder(conf, data).numDataNodes(1).build();
        cluster.waitClusterUp();
        FileSystem files = cluster.getFileSystem();
        files.mkdirs(new Path("/in"));
        for (int i = 1; i < words.length; i++) {
            files.copyFromLocalFile(new Path(words[i]), new Path("/in/"));
        }
        System.out.println(files.getUri());
        while (System.in.read() >= 0) {}
        System.exit(0);
    }
}
