/** `mcp`: the tools of a workspace for an agent on this machine. */
import { CliError, type Command, ExitCode } from '../command.ts';
import { bridge } from '../mcp/bridge.ts';
import { openService, urlOption } from '../service.ts';

export const mcp: Command = {
  name: 'mcp',
  summary: 'Give an agent on this machine the tools of a workspace (MCP over stdio)',
  details: `For agents that start their tools as programs. Reads messages of the Model Context Protocol from standard
input, sends them to /mcp of the service, and writes the answers to standard output. Ends when the
input ends. Needs an API key, from LYNXROOM_TOKEN or lynxroom login --key. The options only narrow
what the key may do.`,
  options: {
    groups: { value: 'LIST', help: 'only these groups of tools, such as library,bookings (default: all)' },
    'read-only': { help: 'only tools that read' },
    ...urlOption,
  },
  examples: ['lynxroom mcp', 'lynxroom mcp --groups library,recordings --read-only'],
  async run(context) {
    const service = await openService(context);
    if (!service.token.startsWith('lnx_'))
      throw new CliError('lynxroom mcp needs an API key: set LYNXROOM_TOKEN, or run lynxroom login --key', {
        exitCode: ExitCode.notSignedIn,
      });
    const groups = context.option('groups');
    const query = new URLSearchParams({
      ...(groups !== undefined && { groups }),
      ...(context.flag('read-only') && { read_only: '1' }),
    });
    const path = query.size > 0 ? `/mcp?${query}` : '/mcp';
    await bridge({
      send: (init) => service.request(path, init),
      input: context.io.stdin,
      output: context.io.stdout,
      signal: context.signal,
    });
    return undefined;
  },
};
