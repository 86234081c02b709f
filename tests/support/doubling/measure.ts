/** Whether work grows in proportion to a text, by the CPU that it takes, whatever else runs here. */
import type { Parser } from './parsers.ts'
import type { Text } from './texts.ts'

const megabyte = 1024 * 1024
/** What is quicker than this cannot be compared, and need not be. */
const millisecondsCompared = 60
const growthMax = 2.5
const millisecondsPerMegabyte = 1_000
const triesMax = 4

async function millisecondsOf(parser: Parser, text: string): Promise<number> {
  const before = process.threadCpuUsage()
  await parser.read(text)
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}

/** What is wrong; undefined where nothing is. What looks wrong is measured again, and the least counts. */
export async function objectionTo(parser: Parser, text: Text): Promise<string | undefined> {
  const [half, whole] = [text.of(parser.most / 2), text.of(parser.most)]
  let [ofHalf, ofWhole] = [Infinity, Infinity]
  let objection: string | undefined
  for (let tries = 0; tries < triesMax; tries += 1) {
    ofWhole = Math.min(ofWhole, await millisecondsOf(parser, whole))
    if (ofWhole <= millisecondsCompared) return undefined
    ofHalf = Math.min(ofHalf, await millisecondsOf(parser, half))
    objection = judge(parser, ofHalf, ofWhole)
    if (objection === undefined) return undefined
  }
  return `${parser.name}, ${text.name}: ${objection}`
}

function judge({ most }: Parser, ofHalf: number, ofWhole: number): string | undefined {
  const told = `${ofHalf.toFixed()} ms, and ${ofWhole.toFixed()} ms for twice as much`
  const allowed = Math.max(millisecondsCompared, (millisecondsPerMegabyte * most) / megabyte)
  if (ofWhole > allowed) return `${told}, which is more than ${allowed.toFixed()} ms`
  const isGrowing = ofWhole > millisecondsCompared && ofWhole > growthMax * ofHalf
  return isGrowing ? told : undefined
}
