/**
 * The file of a store that is in a directory: its log and its lock stand beside it, under names that begin with this
 * one.
 */
export const STORE_FILE = "concertina.sqlite";
