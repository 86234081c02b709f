import { edgeFunction } from '../../shared/http/edge.ts'
import { hostedActionStatus } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(hostedActionStatus, run)
