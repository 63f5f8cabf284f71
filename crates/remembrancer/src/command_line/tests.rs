use super::*;

/// Every command that is shown, with its path.
fn shown(command: &clap::Command) -> Vec<(String, clap::Command)> {
    let mut all = vec![(command.get_name().to_owned(), command.clone())];
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
        let below = shown(sub).into_iter();
        all.extend(below.map(|(path, sub)| (format!("{} {path}", command.get_name()), sub)));
    }
    all
}

fn built() -> clap::Command {
    let mut command = command();
    command.build();
    command
}

fn refused(arguments: &[&str]) -> String {
    let mut command = command();
    let arguments: Vec<OsString> =
        std::iter::once(&"remembrancer").chain(arguments).map(OsString::from).collect();
    let parsed = command.try_get_matches_from_mut(&arguments);
    let error = parsed.and_then(|matches| understood(&mut command, &matches)).expect_err("refused");
    sentence(&error, typed(&command, &arguments), &arguments)
}

#[test]
fn the_command_line_is_sound() {
    command().debug_assert();
}

#[test]
fn every_command_and_every_option_says_what_it_is() {
    let commands = shown(&built());
    assert!(commands.len() > 25, "{}", commands.len());
    for (path, command) in commands {
        assert!(command.get_about().is_some(), "{path} says nothing of itself");
        for arg in command.get_arguments() {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.len() > 3, "{path}: {} has no help text", arg.get_id());
        }
    }
}

#[test]
fn a_command_shows_its_own_options_first_and_only_settings_that_concern_it() {
    let commands = shown(&built());
    let help = |path: &str| {
        let (_, command) = commands.iter().find(|(p, _)| p == path).expect("it is a command");
        command.clone().render_help().to_string()
    };
    let recall = help("remembrancer recall");
    for absent in ["--observation-max-chars", "--qdrant", "--llm", "--reranker", "--toolsets", "--bind"] {
        assert!(!recall.contains(absent), "{absent}: {recall}");
    }
    let at = |text: &str| recall.find(text).unwrap_or_else(|| panic!("{text}: {recall}"));
    assert!(at("--limit") < at("Where the data is:") && at("Where the data is:") < at("--data-dir"));
    for present in ["--observation-max-chars", "--qdrant-url", "--llm-url", "--toolsets", "--bind"] {
        assert!(help("remembrancer serve").contains(present), "{present}");
        assert!(help("remembrancer").contains(present), "{present}");
    }
    assert!(!help("remembrancer stdio").contains("--bind"));
    assert!(!help("remembrancer jobs list").contains("--qdrant"), "{}", help("remembrancer jobs list"));
}

#[test]
fn a_command_takes_every_setting_that_its_help_shows() {
    let root = built();
    for command in root.get_subcommands().filter(|command| !command.is_hide_set()) {
        let name = command.get_name();
        for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
            let is_taken = owner(arg).is_none_or(|owner| owner.contains(&name));
            assert!(is_taken, "`{name} --help` shows --{}, which is refused", arg.get_id());
        }
    }
    for name in ["health", "doctor"] {
        let matches = command().try_get_matches_from(["remembrancer", name, "--bind", "127.0.0.1:9"]);
        let cli = understood(&mut command(), &matches.expect("it is parsed")).expect("it is understood");
        assert_eq!(cli.listen.bind, "127.0.0.1:9");
    }
}

#[test]
fn settings_stand_before_or_after_the_command() {
    for arguments in [
        &["--toolsets", "graph", "stdio"][..],
        &["stdio", "--toolsets", "graph"],
        &["--read-only", "--bind", "127.0.0.1:0", "serve"],
        &["serve", "--read-only", "--bind", "127.0.0.1:0"],
        &["--llm-url", "http://localhost:1/v1", "recall", "x"],
        &["jobs", "--namespace", "a", "list"],
    ] {
        let matches = command().try_get_matches_from(std::iter::once(&"remembrancer").chain(arguments));
        let matches = matches.unwrap_or_else(|error| panic!("{arguments:?}: {error}"));
        let cli = Cli::from_arg_matches(&matches).expect("it is understood");
        assert!(!arguments.contains(&"graph") || cli.tools.toolsets == ["graph"]);
        assert!(
            !arguments.contains(&"--read-only") || cli.tools.read_only && cli.listen.bind == "127.0.0.1:0"
        );
        assert!(!arguments.contains(&"a") || cli.settings.namespace == "a");
    }
}

#[test]
fn what_is_not_understood_is_said_in_one_line_with_where_to_read_on() {
    let unknown = refused(&["recall", "--limti", "3", "x"]);
    assert_eq!(
        unknown,
        "unexpected argument '--limti' found; a similar argument exists: '--limit'. See `remembrancer recall --help`"
    );
    let missing = refused(&["jobs", "show"]);
    assert!(missing.contains("not provided: <ID>. See `remembrancer jobs show --help`"), "{missing}");
    let number = refused(&["recall", "-n", "ten", "x"]);
    assert!(number.contains("'ten'") && number.contains("such as 10"), "{number}");
    let role = refused(&["--namespace", "jobs", "keys", "create", "x", "--role", "boss"]);
    assert!(role.contains("'boss'") && role.ends_with("See `remembrancer keys create --help`"), "{role}");
    let entity = refused(&["entities", "merge", "a", "2"]);
    assert!(entity.contains("'a'") && entity.contains("`remembrancer entities list` shows it"), "{entity}");
    let days = refused(&["keys", "create", "x", "--expires-in", "soon"]);
    assert!(days.contains("'soon'") && days.contains("write a whole number"), "{days}");
    let lost = refused(&["--toolsets", "graph", "recall", "x"]);
    assert!(lost.contains("--toolsets belongs to `serve` and `stdio`"), "{lost}");
    let lost = refused(&["--bind", "127.0.0.1:0", "stdio"]);
    assert!(lost.contains("--bind belongs to `serve`"), "{lost}");
}

/// Settings of `serve` that a stack of containers has no use for: the image says where things are, and a file or a folder has to be
/// mounted first.
const NOT_OF_THE_STACK: [&str; 10] = [
    "REMEMBRANCER_BACKUP_DIR",
    "REMEMBRANCER_BACKUP_INTERVAL_HOURS",
    "REMEMBRANCER_BACKUP_KEEP_DAILY",
    "REMEMBRANCER_BACKUP_KEEP_WEEKLY",
    "REMEMBRANCER_BIND",
    "REMEMBRANCER_DATA_DIR",
    "REMEMBRANCER_IDLE_SECONDS",
    "REMEMBRANCER_MODEL_DIR",
    "REMEMBRANCER_RERANKER_DEADLINE_MS",
    "REMEMBRANCER_RERANKER_DIR",
];

#[test]
fn the_stack_passes_every_setting_on_that_has_a_use_there() {
    let stack = include_str!("../../../../deployment/docker-compose.yml");
    let root = built();
    let serve = root.find_subcommand("serve").expect("it is a command");
    let settings = serve.get_arguments().filter_map(|arg| arg.get_env()?.to_str());
    let settings: Vec<&str> = settings.filter(|name| !NOT_OF_THE_STACK.contains(name)).collect();
    assert!(settings.len() > 30, "{settings:?}");
    for name in settings {
        let is_passed_on = stack.lines().any(|line| line.trim().split(':').next() == Some(name));
        assert!(is_passed_on, "{name} in deployment/.env has no effect");
    }
}

#[test]
fn the_page_of_settings_has_every_setting_of_serve_and_no_grants() {
    let arguments = [
        "remembrancer",
        "serve",
        "--toolsets=memory,graph",
        "--oidc-issuer=https://login.example",
        "--oidc-grants=team=writer:work",
        "--reranker-dir=reranker",
        "--event-confidence=0.5",
    ];
    let matches = command().try_get_matches_from(arguments).expect("it is parsed");
    let cli = Cli::from_arg_matches(&matches).expect("it is understood");
    let shown = cli.settings.shown(&cli.listen, &cli.tools);
    let value = |name: &str| shown.iter().find(|(shown, _)| shown == name).map(|(_, value)| value.as_str());
    let root = built();
    let serve = root.find_subcommand("serve").expect("it is a command");
    for name in
        serve.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(|arg| arg.get_env()?.to_str())
    {
        assert!(value(name).is_some(), "{name} is not shown");
    }
    assert_eq!(value("REMEMBRANCER_TOOLSETS"), Some("memory,graph"));
    assert_eq!(value("REMEMBRANCER_OIDC_ISSUER"), Some("https://login.example"));
    assert_eq!(value("REMEMBRANCER_OIDC_GRANTS"), Some("set"));
}

#[test]
fn an_option_of_other_servers_is_answered_with_the_one_that_says_it_here() {
    let cases: [(&[&str], &str); 4] = [
        (&["serve", "--port", "3200"], "`--bind 127.0.0.1:3200`"),
        (&["serve", "--host=0.0.0.0"], "`--bind 0.0.0.0:3100`"),
        (&["serve", "--listen", "10.0.0.2:80"], "`--bind 10.0.0.2:80`"),
        (&["serve", "--port"], "`--bind 127.0.0.1:3100`"),
    ];
    for (arguments, wanted) in cases {
        let said = refused(arguments);
        assert!(said.contains(wanted) && said.contains(arguments[1].split('=').next().unwrap()), "{said}");
    }
    assert!(!refused(&["recall", "--port", "1"]).contains("--bind"));
}
