/** Shortens a failing list while it still fails, in large steps first. */

type Fails<Item> = (shorter: readonly Item[]) => Promise<boolean>

/**
 * Returns the shortest list found until the time is over; `fails` decides if a list fails as the first did.
 * It tries the end of the list alone, then leaves out all items of a kind, then chunks and single items.
 */
export async function shrunk<Item>(
  list: readonly Item[],
  kindOf: (item: Item) => string,
  fails: Fails<Item>,
  milliseconds: number,
): Promise<readonly Item[]> {
  const end = Date.now() + milliseconds
  const inTime: Fails<Item> = async (shorter) => Date.now() < end && fails(shorter)
  const short = await withoutKinds(await endOf(list, inTime), kindOf, inTime)
  return withoutChunks(short, inTime)
}

async function endOf<Item>(list: readonly Item[], fails: Fails<Item>): Promise<readonly Item[]> {
  for (let size = 8; size < list.length; size *= 2) {
    const end = list.slice(-size)
    if (await fails(end)) return end
  }
  return list
}

async function withoutKinds<Item>(
  list: readonly Item[],
  kindOf: (item: Item) => string,
  fails: Fails<Item>,
): Promise<readonly Item[]> {
  let best = list
  for (const kind of new Set(list.map(kindOf))) {
    const shorter = best.filter((item) => kindOf(item) !== kind)
    if (await fails(shorter)) best = shorter
  }
  return best
}

async function withoutChunks<Item>(
  list: readonly Item[],
  fails: Fails<Item>,
): Promise<readonly Item[]> {
  let best = list
  for (let size = Math.ceil(list.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < best.length; ) {
      const shorter = [...best.slice(0, at), ...best.slice(at + size)]
      if (await fails(shorter)) best = shorter
      else at += size
    }
  }
  return best
}
