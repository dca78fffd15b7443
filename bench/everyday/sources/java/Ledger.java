import java.io.Serializable;
import java.util.*;
import java.util.function.Function;

public class Ledger<T extends Comparable<T>> implements Serializable {
  private final Map<String, List<Entry>> byAccount = new TreeMap<>();
  private List entries = new ArrayList();
  private Thread writer;

  public class Entry implements Serializable {
    final String account;
    final double amount;
    final Date at;
    Entry(String account, double amount) { this.account = account; this.amount = amount; this.at = new Date(2026, 1, 1); }
  }

  public void add(String account, double amount) {
    Entry entry = new Entry(account, amount);
    entries.add(entry);
    byAccount.computeIfAbsent(account, key -> new ArrayList<>()).add(entry);
  }

  public double total(Function<Entry, Double> value) {
    double sum = 0;
    for (Object entry : entries) sum += value.apply((Entry) entry);
    return sum;
  }

  public String grade(int score) {
    switch (score / 10) {
      case 10: System.out.println("full");
      case 9: return "A";
      case 8: return "B";
      default: return "C";
    }
  }

  public List<T> sorted(Collection values) {
    List<T> list = new ArrayList<T>(values);
    Collections.sort(list);
    return (List<T>) (Object) list;
  }

  public void stop() { writer.stop(); new Integer(7).hashCode(); Thread.currentThread().suspend(); }

  protected void finalize() throws Throwable { super.finalize(); try { } finally { return; } }
}
