//! How a script of the little shell is read: words, quotes, what joins commands and where their outputs go.

use std::iter::Peekable;
use std::str::Chars;

use crate::runs::Stream;

/// One command.
#[derive(Debug, PartialEq, Eq)]
pub struct Command {
    /// When it is executed.
    pub glue: Glue,
    /// Its name and arguments, quotes taken away.
    pub words: Vec<String>,
    /// The line that it stands in, from 1.
    pub line: usize,
    targets: [Target; 2],
}

/// When a command is executed, by the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Glue {
    /// Whatever that was.
    Always,
    /// If it went well.
    And,
    /// If it failed.
    Or,
}

/// Where an output of a command goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Into one of the shell's own.
    To(Stream),
    /// Away.
    Nowhere,
}

impl Command {
    /// Where one of its outputs goes.
    pub const fn target(&self, stream: Stream) -> Target {
        self.targets[stream as usize]
    }
}

/// Something that a script consists of.
enum Token {
    Word(String),
    Glue(Glue),
    Redirection(Stream, Target),
    /// What only closes or opens an input that there never is.
    Nothing,
}

/// Reads a script. The error is what a shell would say.
pub fn read(script: &str) -> Result<Vec<Command>, String> {
    let mut commands = Vec::new();
    let mut rest = script.chars().peekable();
    let mut line = 1;
    let begun = |glue, line| Command {
        glue,
        words: Vec::new(),
        line,
        targets: [Target::To(Stream::Stdout), Target::To(Stream::Stderr)],
    };
    let mut command = begun(Glue::Always, line);
    while let Some(token) = token(&mut rest, &mut line)? {
        match token {
            Token::Word(word) => {
                if command.words.is_empty() {
                    command.line = line;
                }
                command.words.push(word);
            }
            Token::Redirection(stream, target) => {
                // `>&2` leads to where standard error goes now.
                command.targets[stream as usize] = match target {
                    Target::To(other) => command.target(other),
                    Target::Nowhere => target,
                };
            }
            Token::Glue(glue) => {
                let ended = std::mem::replace(&mut command, begun(glue, line));
                // An empty line between `&&` and its command takes nothing away.
                if ended.words.is_empty() && glue == Glue::Always {
                    command.glue = ended.glue;
                } else {
                    commands.push(ended);
                }
            }
            Token::Nothing => {}
        }
    }
    if !command.words.is_empty() {
        commands.push(command);
    }
    Ok(commands)
}

fn token(rest: &mut Peekable<Chars<'_>>, line: &mut usize) -> Result<Option<Token>, String> {
    while rest.next_if(|c| matches!(c, ' ' | '\t' | '\r')).is_some() {}
    let Some(first) = rest.peek().copied() else { return Ok(None) };
    let glue = match first {
        '#' => {
            while rest.next_if(|c| *c != '\n').is_some() {}
            return Ok(Some(Token::Nothing));
        }
        '\n' => {
            *line += 1;
            Glue::Always
        }
        ';' => Glue::Always,
        '&' | '|' => {
            rest.next();
            if rest.peek() != Some(&first) {
                return Err(format!("line {line}: this little shell does not know `{first}'"));
            }
            if first == '&' { Glue::And } else { Glue::Or }
        }
        '<' => {
            rest.next();
            return word(rest, line).map(|_| Some(Token::Nothing));
        }
        '>' => return redirection(Stream::Stdout, rest, line).map(Some),
        _ => {
            let word = word(rest, line)?;
            let stream = match word.as_str() {
                "1" => Some(Stream::Stdout),
                "2" => Some(Stream::Stderr),
                _ => None,
            };
            return match stream {
                Some(stream) if rest.peek() == Some(&'>') => {
                    redirection(stream, rest, line).map(Some)
                }
                _ => Ok(Some(Token::Word(word))),
            };
        }
    };
    rest.next();
    Ok(Some(Token::Glue(glue)))
}

/// What follows `>`: `&1`, `&2` or `/dev/null`.
fn redirection(
    stream: Stream,
    rest: &mut Peekable<Chars<'_>>,
    line: &mut usize,
) -> Result<Token, String> {
    rest.next();
    let is_stream = rest.next_if_eq(&'&').is_some();
    while rest.next_if_eq(&' ').is_some() {}
    let target = match (is_stream, word(rest, line)?.as_str()) {
        (true, "1") => Target::To(Stream::Stdout),
        (true, "2") => Target::To(Stream::Stderr),
        (false, "/dev/null") => Target::Nowhere,
        (_, other) => return Err(format!("line {line}: {other}: Read-only file system")),
    };
    Ok(Token::Redirection(stream, target))
}

/// The next word, its quotes taken away.
fn word(rest: &mut Peekable<Chars<'_>>, line: &mut usize) -> Result<String, String> {
    let mut word = String::new();
    let unclosed =
        |quote: char| format!("line 1: unexpected EOF while looking for matching `{quote}'");
    while let Some(c) =
        rest.next_if(|c| !matches!(c, ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | '<' | '>'))
    {
        match c {
            '\'' | '"' => loop {
                match rest.next().ok_or_else(|| unclosed(c))? {
                    end if end == c => break,
                    '\\' if c == '"' => {
                        let next = rest.next().ok_or_else(|| unclosed(c))?;
                        if !matches!(next, '"' | '\\' | '$' | '`') {
                            word.push('\\');
                        }
                        word.push(next);
                    }
                    inner => {
                        *line += usize::from(inner == '\n');
                        word.push(inner);
                    }
                }
            },
            '\\' => word.extend(rest.next()),
            c => word.push(c),
        }
    }
    Ok(word)
}

/// What `printf` writes: `\n`, `\t`, `\\`, `%s`, `%d`, `%%`; the format once.
pub fn printf(format: &str, values: &[&str]) -> String {
    let mut written = String::new();
    let mut values = values.iter();
    let mut rest = format.chars();
    while let Some(c) = rest.next() {
        let next = if matches!(c, '\\' | '%') { rest.next() } else { None };
        match (c, next) {
            ('\\', Some('n')) => written.push('\n'),
            ('\\', Some('t')) => written.push('\t'),
            ('%', Some('s' | 'd')) => written.push_str(values.next().copied().unwrap_or_default()),
            ('\\' | '%', Some(other)) => written.push(other),
            (c, _) => written.push(c),
        }
    }
    written
}
