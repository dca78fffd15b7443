// What a flaw in a grammar's scanner can do to its process, on purpose. Shaped like a scanner: it is given a text and says how far it came.

#include <stddef.h>

static volatile size_t seen;

/* Writes where nothing is. */
size_t deadly_write(const char *text, size_t length) {
  volatile char *nowhere = NULL;
  nowhere[0] = length > 0 ? text[0] : 0;
  return length;
}

/* Never comes back. */
size_t deadly_loop(const char *text, size_t length) {
  for (;;) seen += (unsigned char)text[seen % length];
}

/* Goes as deep as there is room, and on. */
size_t deadly_recursion(const char *text, size_t length) {
  volatile char frame[512];
  frame[seen % sizeof frame] = text[seen % length];
  seen += 1;
  return deadly_recursion(text, length) + (size_t)frame[0];
}
