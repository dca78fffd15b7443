/** The name of the file of a store in a directory. The names of its log and its lock begin with this name. */
export const STORE_FILE = "concertina.sqlite";
