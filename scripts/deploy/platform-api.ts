/** Requests to the API of a platform: JSON with a bearer token that no message repeats. */
const answerMilliseconds = 30_000

/** Access to one platform. `fetch` is that of the process, or a fake of a test. */
export type PlatformAccess = {
  /** Address without a slash at its end. */
  url: string
  token: string
  fetch: typeof fetch
  signal: AbortSignal
}

/** Method of a request. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** An answer; `body` is undefined if it is not JSON. */
export type PlatformAnswer = { status: number; body: unknown }

/** Sends a request and returns the answer, whatever its status is. */
export async function callPlatform(
  { url, token, fetch: send, signal }: PlatformAccess,
  method: Method,
  path: string,
  body?: object,
): Promise<PlatformAnswer> {
  const answer = await send(`${url}${path}`, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(answerMilliseconds)]),
  }).catch((error: unknown) => {
    signal.throwIfAborted()
    throw new Error(`${new URL(url).host} cannot be reached; run this again`, { cause: error })
  })
  if (answer.status >= 500) {
    throw new Error(`${new URL(url).host} answers ${answer.status}; run this again`)
  }
  const text = await answer.text()
  return { status: answer.status, body: parsed(text) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
