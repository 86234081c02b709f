/** Makes a failing list shorter while it goes on failing, the bigger steps first. */

type Fails<Item> = (shorter: readonly Item[]) => Promise<boolean>

/**
 * `fails` answers whether a list fails as the first did; it is asked until the time is over. Tried are
 * the list's end alone, then leaving out all of a kind, then chunks and single ones.
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
