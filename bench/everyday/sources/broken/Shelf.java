import java.util.*;

public class Shelf extends Cupboard {
  private Map<String, Integer> heights = new HashMap<String>();
  private static final List<String> NAMES = List.of(1, 2, "three");

  @Override
  public String toSting() { return heights; }

  public int height(String name) {
    int found = heights.get(name, 0);
    String label = found;
    return label.size() + missing(name);
  }

  public void load() { throw new java.io.IOException("no file"); }

  private abstract void unload();

  public int sum() { int total; for (int height : heights.values()) total += height; return total; }

  static void show() { System.out.println(heights); this.load(); Shelf shelf = "shelf"; Object o = new Comparable<Shelf>() { }; }
}
