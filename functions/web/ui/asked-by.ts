/** The key or app that made a request, and its device, as facts of a page. */

type RequesterRow = {
  title: string
  calls_itself: string | null
  device: string
  device_known: boolean
}

/** Returns the facts; the name that an app gave itself is a fact of its own. */
export function requesterFacts(asked: RequesterRow): (readonly [name: string, value: string])[] {
  return [
    ['Asked by', asked.title],
    ...(asked.calls_itself === null ? [] : [['It calls itself', asked.calls_itself] as const]),
    ['Device', `${asked.device}, ${asked.device_known ? 'known' : 'new'}`],
  ]
}
