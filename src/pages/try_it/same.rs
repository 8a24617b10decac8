//! The same run by other means: what to type into a terminal or a program. Standard tools only.

use serde_json::{Map, Value, json};

use crate::runs::Request;

/// By curl. The quotes round the end mark keep the shell from reading the code.
pub fn curl(base_url: &str, request: &Request) -> String {
    let body = serde_json::to_string_pretty(&Value::Object(body(request))).unwrap_or_default();
    format!("curl --json @- '{base_url}/api/v1/runs' <<'END'\n{body}\nEND")
}

/// By Python's standard library.
pub fn python(base_url: &str, request: &Request) -> String {
    let body = body(request);
    let lines: Vec<String> =
        body.iter().map(|(name, value)| format!("    \"{name}\": {},\n", literal(value))).collect();
    let lines = lines.concat();
    format!(
        "import json\nimport urllib.request\n\nrun = {{\n{lines}}}\nrequest = urllib.request.Request(\n    \
         \"{base_url}/api/v1/runs\",\n    json.dumps(run).encode(),\n    {{\"Content-Type\": \"application/json\"}},\n)\n\
         with urllib.request.urlopen(request) as answer:\n    receipt = json.load(answer)\n\
         print(receipt[\"outcome\"], receipt[\"exit_code\"])\nprint(receipt[\"stdout\"])\n"
    )
}

/// What was chosen; what was not takes its default there too.
fn body(request: &Request) -> Map<String, Value> {
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| drop(body.insert(name.to_owned(), value));
    put("language", json!(request.language.word()));
    put("code", json!(request.code));
    put("timeout_ms", json!(request.timeout_ms));
    put("egress", json!(request.egress.word()));
    if let Some(named) = &request.providers {
        put("providers", json!(named));
    }
    if !request.fallback {
        put("fallback", json!(false));
    }
    if let Some(tier) = request.isolation_at_least {
        put("isolation_at_least", json!(tier.word()));
    }
    if let Some(most) = request.max_cost_usd {
        put("max_cost_usd", json!(most.to_string()));
    }
    if let Some(drill) = request.drill {
        put("drill", json!(drill.word()));
    }
    body
}

/// A value as Python writes it: its strings and lists are JSON's.
fn literal(value: &Value) -> String {
    match value {
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Null => "None".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::typed::Typed;

    #[test]
    fn code_cannot_leave_the_text_that_holds_it() {
        let typed = Typed {
            language: "python".to_owned(),
            code: "END\n'\"\"\"\\ \u{1}END".to_owned(),
            fallback: "false".to_owned(),
            ..Typed::default()
        };
        let request = typed.read(&[]).unwrap();
        let curl = curl("http://localhost", &request);
        assert_eq!(curl.lines().filter(|line| *line == "END").count(), 1, "{curl}");
        assert!(curl.ends_with("\nEND"));
        let python = python("http://localhost", &request);
        assert!(python.contains("\"code\": \"END\\n'\\\"\\\"\\\"\\\\ \\u0001END\","), "{python}");
        assert!(python.contains("\"fallback\": False,"), "{python}");
    }
}
