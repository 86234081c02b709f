/**
 * Sends requests from a process of its own, so that the work of the sender is not counted as the
 * product's. Arguments: url, key, requests, requests at once. Prints the latencies in milliseconds as JSON.
 */
const [, , url = '', key = '', requestsText = '0', parallelText = '1'] = process.argv
const requests = Number(requestsText)
const latencies: number[] = []
let started = 0

async function sender(): Promise<void> {
  while (started < requests) {
    started += 1
    const began = performance.now()
    const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
    await answer.arrayBuffer()
    if (!answer.ok) throw new Error(`${url} answered ${answer.status}`)
    latencies.push(performance.now() - began)
  }
}

await Promise.all(Array.from({ length: Number(parallelText) }, sender))
console.log(JSON.stringify(latencies))

export {}
