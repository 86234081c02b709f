import { edgeFunction } from '../../shared/http/edge.ts'
import { checkAlias } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(checkAlias, run)
