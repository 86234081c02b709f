import { edgeFunction } from '../../shared/http/edge.ts'
import { walletActivityList } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(walletActivityList, run)
