/** Options of the client: those for all calls, and those for one call. */

/** Address of the account, and the credential that calls it. */
export type ClientOptions = Credential & {
  /** Address of the service, such as https://account.example; http only on this machine. */
  baseUrl: string
  /**
   * Name of this program for the account. Use the same one each time: payments from an unknown device
   * ask for a confirmation. Without it, the service uses the user agent.
   */
  deviceId?: string | undefined
  /** Replacement for the global fetch. */
  fetch?: Fetch | undefined
  /** Time for a whole call with its repetitions; 60,000 if absent. */
  timeoutMilliseconds?: number | undefined
  /** Maximum number of repetitions of a call; 3 if absent. */
  repetitionsMax?: number | undefined
}

/** API key, or a function that returns the current access token; public operations need neither. */
export type Credential =
  | { apiKey?: string | undefined; token?: undefined }
  | { apiKey?: undefined; token: () => string | Promise<string> }

/** The part of fetch that the client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** Options of one call. */
export type CallOptions = {
  /**
   * Key for an operation that takes one: calls with the same key and request have one effect and one
   * answer for 24 hours. Without it, each call draws its own and uses it for its repetitions. Give a key
   * that you stored before if the call has to survive the end of your program.
   */
  idempotencyKey?: string | undefined
  /** Signal that ends the call, which then throws the signal's reason. */
  signal?: AbortSignal | undefined
  timeoutMilliseconds?: number | undefined
  repetitionsMax?: number | undefined
}
