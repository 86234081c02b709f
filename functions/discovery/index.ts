import { contracts } from '../contracts.ts'
import { discoveryFunction } from './serve.ts'

export default discoveryFunction(contracts)
