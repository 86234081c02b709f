/**
 * Requests pages in turn from a process of its own, one at a time, and prints how long the first byte of
 * each took, in milliseconds. Arguments: a cookie, rounds, addresses.
 */
import { askPage } from './world.ts'

const [, , cookie = '', roundsText = '0', ...urls] = process.argv
const latencies = urls.map((): number[] => [])

for (let round = 0; round < Number(roundsText); round += 1) {
  for (const [arm, url] of urls.entries()) {
    const { status, body, firstByteMilliseconds } = await askPage(url, cookie)
    if (status !== 200) throw new Error(`${url} answered ${status}: ${body.slice(0, 200)}`)
    latencies[arm]?.push(firstByteMilliseconds)
  }
}
console.log(JSON.stringify(latencies))
process.exit(0)
