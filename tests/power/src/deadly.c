// Faults that a grammar's scanner could have, made on purpose. The functions are shaped like scanners: they take a text
// and return how far they came.

#include <stddef.h>

static volatile size_t seen;

/* Writes to an invalid address. */
size_t deadly_write(const char *text, size_t length) {
  volatile char *nowhere = NULL;
  nowhere[0] = length > 0 ? text[0] : 0;
  return length;
}

/* Never returns. */
size_t deadly_loop(const char *text, size_t length) {
  for (;;) seen += (unsigned char)text[seen % length];
}

/* Recurses until the stack overflows. */
size_t deadly_recursion(const char *text, size_t length) {
  volatile char frame[512];
  frame[seen % sizeof frame] = text[seen % length];
  seen += 1;
  return deadly_recursion(text, length) + (size_t)frame[0];
}
