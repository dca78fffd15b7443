export interface Options { sccsEnabled?: boolean; sccsStorageDir?: string; staleTurns?: number }
