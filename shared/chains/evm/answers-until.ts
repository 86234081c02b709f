/**
 * Answers of endpoints that were asked at once, of which no more are waited for than it takes: one that is
 * slow holds nothing up that the others have decided.
 */

/** In the order of the questions; undefined where an answer was not waited for. */
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
