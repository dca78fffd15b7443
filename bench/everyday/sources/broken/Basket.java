import java.util.List;
import org.example.prices.PriceList;

public class Basket implements Comparable<Basket> {
  private final List<String> names;
  private int count = "none";

  public Basket(List<Integer> names) { this.names = names; }

  public int size() { return names.length(); }

  public String first() { if (names.isEmpty()) { return null; } }

  public static void main(String[] arguments) {
    Basket basket = new Basket();
    String size = basket.size();
    final int most = 3;
    most++;
    for (String name : basket) System.out.println(nmae);
    PriceList.open().read();
  }
}
