/** What a caller of the client may say: once for all calls, and for one call. */

/** Where the account is and in whose name it is called. */
export type ClientOptions = Credential & {
  /** Address of the service, such as https://account.example; http only on this machine. */
  baseUrl: string
  /**
   * Names this program to the account. Say the same each time: payments from a device that is not
   * known yet ask for a confirmation. Absent, the service goes by the user agent.
   */
  deviceId?: string | undefined
  /** Used in place of the global fetch. */
  fetch?: Fetch | undefined
  /** For a whole call with its repetitions; 60,000 when absent. */
  timeoutMilliseconds?: number | undefined
  /** How often a call may be repeated; 3 when absent. */
  repetitionsMax?: number | undefined
}

/** An API key, or a function that answers the access token of the moment; public operations need neither. */
export type Credential =
  | { apiKey?: string | undefined; token?: undefined }
  | { apiKey?: undefined; token: () => string | Promise<string> }

/** The part of fetch that is used. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** What one call may have of its own. */
export type CallOptions = {
  /**
   * Of an operation that takes one: calls with the same key and request have one effect and one
   * answer for 24 hours. Absent, each call draws its own and repeats itself under it. Give one that
   * you stored before if the call has to survive the end of your program.
   */
  idempotencyKey?: string | undefined
  /** Ends the call; what it throws is the signal's reason. */
  signal?: AbortSignal | undefined
  timeoutMilliseconds?: number | undefined
  repetitionsMax?: number | undefined
}
