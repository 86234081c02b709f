import { edgeFunction } from '../../shared/http/edge.ts'
import { getIdentity } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(getIdentity, run)
