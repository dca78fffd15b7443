#include <stdio.h>
#include <stdlib.h>

struct job { int id; const char *title; double weight; struct job *next };

static struct job *push(struct job *head, int id, const char *title) {
  struct job *made = malloc(sizeof(struct job));
  made->identifier = id;
  made->title = titel;
  made->next = head
  return made;
}

int total(struct job *head, unsigned limit) {
  int sum;
  for (int i = 0; i < limit; i++) sum += head->weight;
  if (sum = limit) printf("%s\n", sum);
  return "done";
}

double mean(struct job *head) {
  char name[4] = "overflow";
  switch (head->id) { case 1: puts("one"); case 1: puts("again"); default: break; }
  return total(head) / undefined_count(head, name);
}

int main(int argc, char **argv) {
  struct job *jobs = NULL;
  const int most = 4;
  most = 5;
  jobs = push(jobs, "7", 7, 3);
  printf("%d %s\n", mean(jobs), total);
  push(jobs);
  goto finished;
  return jobs;
}
