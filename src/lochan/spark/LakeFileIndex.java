// SPDX-License-Identifier: Apache-2.0
// The files of a ref as Spark's planner sees them: folders by their logical names, from which it
// takes partitions, and in each folder the physical files that its native scan reads. Nothing is
// listed and nothing is asked of a file system. Only the driver has this class.
//
// Compiled by Janino inside Spark: no generics, no Scala objects by MODULE$.
package lochan.spark;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.datasources.DataSource;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.PartitionSpec;
import org.apache.spark.sql.execution.datasources.PartitioningAwareFileIndex;
import org.apache.spark.sql.execution.datasources.v2.FileDataSourceV2;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

public class LakeFileIndex extends PartitioningAwareFileIndex {
    private static final int FIELDS = 6;
    private static final long BLOCK = 128L << 20;

    private final String root;
    private final String rows;
    private final scala.collection.mutable.LinkedHashMap files;
    private final scala.collection.immutable.Map folders;
    private PartitionSpec partitions;

    // rows: logical path below the root, scheme, authority, path, size, milliseconds; all end in NUL
    public LakeFileIndex(
            SparkSession spark,
            scala.collection.immutable.Map options,
            scala.Option schema,
            String root,
            String rows) {
        super(spark, options, schema, PartitioningAwareFileIndex.$lessinit$greater$default$4());
        this.root = root;
        this.rows = rows;
        this.files = new scala.collection.mutable.LinkedHashMap();
        Map children = new HashMap();  // by the folder's name: a Path takes longer than all else
        int at = 0;
        String[] row = new String[FIELDS];
        while (at < rows.length()) {
            for (int i = 0; i < FIELDS; i++) {
                int end = rows.indexOf(0, at);
                row[i] = rows.substring(at, end);
                at = end + 1;
            }
            String authority = row[2].length() == 0 ? null : row[2];
            Path physical = new Path(row[1], authority, row[3]);
            FileStatus status = new FileStatus(
                Long.parseLong(row[4]), false, 1, BLOCK, Long.parseLong(row[5]), physical);
            Path logical = new Path("file", null, root + "/" + row[0]);
            this.files.put(logical, status);
            String folder = row[0].substring(0, row[0].lastIndexOf('/') + 1);
            List list = (List) children.get(folder);
            if (list == null) {
                list = new ArrayList();
                children.put(folder, list);
            }
            list.add(status);
        }
        Map arrays = new HashMap();
        Iterator each = children.entrySet().iterator();
        while (each.hasNext()) {
            Map.Entry entry = (Map.Entry) each.next();
            Path folder = new Path("file", null, root + "/" + entry.getKey());
            arrays.put(folder, ((List) entry.getValue()).toArray(new FileStatus[0]));
        }
        this.folders = PythonUtils.toScalaMap(arrays);
    }

    public static Object open(
            SparkSession spark,
            String formatName,
            String schemaJson,
            scala.collection.immutable.Map options,
            String root,
            String rows) throws Exception {
        scala.Option schema = scala.Option.apply(
            schemaJson == null ? null : DataType.fromJson(schemaJson));
        FileFormat format = format(spark, formatName);
        LakeFileIndex index = new LakeFileIndex(spark, options, schema, root, rows);
        StructType partitions = index.partitionSchema();
        StructType data;
        if (schema.isDefined()) {
            boolean strict = spark.sessionState().conf().caseSensitiveAnalysis();
            data = without((StructType) schema.get(), partitions, strict);
        } else {
            scala.Option inferred = format.inferSchema(spark, options, index.allFiles());
            if (inferred.isEmpty()) {
                return null;
            }
            data = (StructType) inferred.get();
        }
        HadoopFsRelation relation = new HadoopFsRelation(
            index, partitions, data.asNullable(), scala.Option.apply(null), format, options, spark);
        return spark.baseRelationToDataFrame(relation);
    }

    private static FileFormat format(SparkSession spark, String name) throws Exception {
        Class found = DataSource.lookupDataSource(name, spark.sessionState().conf());
        Object made = found.getDeclaredConstructor(new Class[0]).newInstance(new Object[0]);
        if (made instanceof FileDataSourceV2) {
            Class v1 = ((FileDataSourceV2) made).fallbackFileFormat();
            made = v1.getDeclaredConstructor(new Class[0]).newInstance(new Object[0]);
        }
        return made instanceof FileFormat ? (FileFormat) made : null;
    }

    private static StructType without(StructType schema, StructType partitions, boolean strict) {
        StructType kept = new StructType();
        StructField[] fields = schema.fields();
        for (int i = 0; i < fields.length; i++) {
            boolean found = false;
            String[] names = partitions.fieldNames();
            for (int j = 0; j < names.length; j++) {
                String name = fields[i].name();
                found |= strict ? names[j].equals(name) : names[j].equalsIgnoreCase(name);
            }
            if (!found) {
                kept = kept.add(fields[i]);
            }
        }
        return kept;
    }

    public scala.collection.mutable.LinkedHashMap leafFiles() {
        return files;
    }

    public scala.collection.immutable.Map leafDirToChildrenFiles() {
        return folders;
    }

    public PartitionSpec partitionSpec() {
        if (partitions == null) {
            partitions = recursiveFileLookup() ? PartitionSpec.emptySpec() : inferPartitioning();
        }
        return partitions;
    }

    public scala.collection.immutable.Seq rootPaths() {
        List roots = new ArrayList();
        roots.add(new Path("file", null, root));
        return PythonUtils.toSeq(roots);
    }

    // What was resolved stays what it is: another state of the branch is another read.
    public void refresh() {}

    public boolean equals(Object other) {
        return other instanceof LakeFileIndex
            && ((LakeFileIndex) other).root.equals(root)
            && ((LakeFileIndex) other).rows.equals(rows);
    }

    public int hashCode() {
        return rows.hashCode();
    }
}
