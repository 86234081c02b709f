/**
 * Waits for endpoints that were asked in parallel, but only until the outcome is decided. A slow endpoint
 * then delays nothing.
 */

/** Returns the answers in the order of the questions. An answer is undefined if it was not waited for. */
export function answersUntil<Answer extends object | boolean>(
  asked: readonly Promise<Answer>[],
  isDecided: (soFar: readonly (Answer | undefined)[]) => boolean,
): Promise<(Answer | undefined)[]> {
  const soFar = asked.map((): Answer | undefined => undefined)
  return new Promise((resolve, reject) => {
    const all = asked.map(async (one, at) => {
      soFar[at] = await one
      if (isDecided(soFar)) resolve([...soFar])
    })
    Promise.all(all).then(() => resolve(soFar), reject)
  })
}
